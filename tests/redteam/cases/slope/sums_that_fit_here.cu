// The spread of t from whole numbers, in one pass and exact.
__device__ double all(double v) {
    __shared__ double parts[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int k = 0; k < 8; ++k) v += parts[k];
    __syncthreads();
    return v;
}

__device__ long long all_whole(long long v) {
    __shared__ long long parts[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int k = 0; k < 8; ++k) v += parts[k];
    __syncthreads();
    return v;
}

__global__ void slope(const int* __restrict__ t, const float* __restrict__ y, float* __restrict__ out,
                      int cols) {
    t += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    long long s = 0, q = 0;
    double sy = 0;
    for (int i = threadIdx.x; i < cols; i += 256) {
        int v = t[i];
        s += v;
        q += (long long)v * v;
        sy += y[i];
    }
    s = all_whole(s);
    q = all_whole(q);
    double tm = (double)s / cols, ym = all(sy) / cols, sty = 0;
    for (int i = threadIdx.x; i < cols; i += 256) sty += (t[i] - tm) * (y[i] - ym);
    sty = all(sty);
    // The difference is what has to fit, not the products.
    long long spread =
        (long long)((unsigned long long)cols * (unsigned long long)q - (unsigned long long)s * s);
    if (threadIdx.x == 0) out[blockIdx.x] = spread > 0 ? (float)(sty * cols / (double)spread) : 0.f;
}
