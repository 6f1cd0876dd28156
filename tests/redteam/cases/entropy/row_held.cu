// A row is held in shared memory and read once.
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

#define MOST 3072

__global__ void entropy(const int* __restrict__ counts, float* __restrict__ out, int cols) {
    __shared__ int held[MOST];
    const int* row = counts + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    long long n = 0;
    for (int c = t; c < cols; c += 256) {
        int v = row[c];
        if (c < MOST) held[c] = v;
        n += v;
    }
    float total = (float)all(n), s = 0.f;
    for (int c = t; c < min(cols, MOST); c += 256) {
        float p = held[c] / total;
        if (held[c] > 0) s -= p * logf(p);
    }
    s = all(s);
    if (t == 0) out[blockIdx.x] = s;
}
