// Logarithms of floats; a row in registers where it is of middle length, else read twice.
__device__ float all(float v) {
    __shared__ float parts[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.f;
    for (int k = 0; k < 8; ++k) v += parts[k];
    __syncthreads();
    return v;
}

__device__ long long all(long long v) {
    __shared__ long long parts[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int k = 0; k < 8; ++k) v += parts[k];
    __syncthreads();
    return v;
}

__device__ __forceinline__ float term(int count, float total) {
    float p = count / total;
    return count > 0 ? -p * logf(p) : 0.f;
}

__global__ void entropy(const int* __restrict__ counts, float* __restrict__ out, int cols) {
    const int* row = counts + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float s = 0.f;
    long long n = 0;
    if (cols >= 512 && cols < 1024) {
        int held[3];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            held[k] = t + 256 * k < cols ? row[t + 256 * k] : 0;
            n += held[k];
        }
        float total = (float)all(n);
#pragma unroll
        for (int k = 0; k < 3; ++k) s += term(held[k], total);
    } else {
        for (int c = t; c < cols; c += 256) n += row[c];
        float total = (float)all(n);
        for (int c = t; c < cols; c += 256) s += term(row[c], total);
    }
    s = all(s);
    if (t == 0) out[blockIdx.x] = s;
}
