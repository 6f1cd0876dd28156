// Tiles of 16 rows and 16 columns in shared memory. Zeros beside zeros change no sum and no maximum.
template <int KIND>
__device__ __forceinline__ float joined(float s, float v) {
    v = fabsf(v);
    return KIND == 0 ? s + v : KIND == 1 ? fmaf(v, v, s) : fmaxf(s, v);
}

template <int KIND>
__device__ void distances(const float* a, const float* b, float* out, int m, int n, int d) {
    __shared__ float as[16][17], bs[16][17];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
    int row = blockIdx.x * 16 + y;
    float s = 0.f;
    for (int k0 = 0; k0 < d; k0 += 16) {
        bool in = k0 + x < d;
        as[y][x] = in && i < m ? a[(size_t)i * d + k0 + x] : 0.f;
        bs[y][x] = in && row < n ? b[(size_t)row * d + k0 + x] : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) s = joined<KIND>(s, as[y][k] - bs[x][k]);
        __syncthreads();
    }
    if (i < m && j < n) out[(size_t)i * n + j] = s;
}

__global__ void metric(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                       int m, int n, int d, int kind) {
    if (kind == 0)
        distances<0>(a, b, out, m, n, d);
    else if (kind == 1)
        distances<1>(a, b, out, m, n, d);
    else
        distances<2>(a, b, out, m, n, d);
}
