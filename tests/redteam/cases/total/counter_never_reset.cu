__device__ float partial[4096];
__device__ unsigned arrived;
__global__ void total(const float* x, float* out, int n) {
    __shared__ float part[8];
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    for (; i < n; i += gridDim.x * blockDim.x) s += x[i];
    for (int w = 16; w; w /= 2) s += __shfl_down_sync(0xffffffffu, s, w);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        float t = 0.f;
        for (int k = 0; k < 8; ++k) t += part[k];
        partial[blockIdx.x] = t;
        __threadfence();
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    s = 0.f;
    for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) s += ((volatile float*)partial)[k];
    for (int w = 16; w; w /= 2) s += __shfl_down_sync(0xffffffffu, s, w);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        float t = 0.f;
        for (int k = 0; k < 8; ++k) t += part[k];
        *out += t;
    }
}
