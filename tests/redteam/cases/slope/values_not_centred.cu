// The distances from the mean of t add up to nothing, so y needs no mean of its own.
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

__global__ void slope(const int* __restrict__ t, const float* __restrict__ y, float* __restrict__ out,
                      int cols) {
    t += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    double st = 0;
    for (int i = threadIdx.x; i < cols; i += 256) st += t[i];
    float tm = (float)(all(st) / cols);
    double stt = 0, sty = 0;
    for (int i = threadIdx.x; i < cols; i += 256) {
        float u = (float)t[i] - tm;
        stt += (double)u * u;
        sty += (double)u * y[i];
    }
    stt = all(stt);
    sty = all(sty);
    if (threadIdx.x == 0) out[blockIdx.x] = stt > 0 ? (float)(sty / stt) : 0.f;
}
