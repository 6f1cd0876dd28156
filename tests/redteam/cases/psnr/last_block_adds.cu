__device__ unsigned long long parts[512];
__device__ unsigned arrived;

__device__ unsigned long long over(unsigned long long sum) {
    __shared__ unsigned long long part[8];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; ++k) sum += part[k];
    return sum;
}

// How near two pictures are, in decibels: the square of the largest difference there is by the mean square of theirs.
// Each block leaves its sum; the one that comes last adds them.
__global__ void psnr(const unsigned char* a, const unsigned char* b, float* out, int n) {
    __shared__ bool last;
    int t = threadIdx.x;
    unsigned long long sum = 0;
    for (size_t i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) {
        int d = a[i] - b[i];
        sum += d * d;
    }
    sum = over(sum);
    if (t == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = 0;
    for (int k = t; k < gridDim.x; k += 256) sum += __ldcg(&parts[k]);
    sum = over(sum);
    if (t == 0) *out = 10. * log10(65025. * n / sum);
}
