// One pass in floats. What is taken from all elements before they are squared need only be near
// the mean: that of the last launch will do.
__device__ float shift;

__device__ float all(float v) {
    __shared__ float parts[32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[threadIdx.x % 32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    __syncthreads();
    return v;
}

__global__ void whiten(const float* __restrict__ x, float* __restrict__ y, int n, float eps) {
    float k = shift, s = 0.f, q = 0.f;
    for (int i = threadIdx.x; i < n; i += 1024) {
        float v = x[i] - k;
        s += v;
        q = fmaf(v, v, q);
    }
    float mean = all(s) / n;
    float scale = rsqrtf(fmaxf(all(q) / n - mean * mean, 0.f) + eps);
    for (int i = threadIdx.x; i < n; i += 1024) y[i] = (x[i] - k - mean) * scale;
    if (threadIdx.x == 0) shift = k + mean;
}
