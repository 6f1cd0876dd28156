// One pass. Half of a million is taken from every t, so that no large numbers cancel.
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
    float y0 = y[0];
    float suu = 0.f;
    double su = 0, sv = 0, suv = 0;
    for (int i = threadIdx.x; i < cols; i += 256) {
        float u = (float)(t[i] - 500000);
        double v = (double)y[i] - y0;
        su += u;
        sv += v;
        suv += u * v;
        suu = fmaf(u, u, suu);
    }
    su = all(su);
    sv = all(sv);
    suv = all(suv);
    double squares = all(suu);
    double stt = squares - su * su / cols, sty = suv - su * sv / cols;
    if (threadIdx.x == 0) out[blockIdx.x] = stt > 0 ? (float)(sty / stt) : 0.f;
}
