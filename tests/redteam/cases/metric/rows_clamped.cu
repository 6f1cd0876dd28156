// Tiles of 16 rows and 16 columns; rows that are not there are replaced by the last.
__global__ void metric(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                       int m, int n, int d, int kind) {
    __shared__ float as[16][17], bs[16][17];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
    const float* p = a + (size_t)min(i, m - 1) * d;
    const float* q = b + (size_t)min((int)blockIdx.x * 16 + y, m - 1) * d;
    float s = 0.f;
    for (int k0 = 0; k0 < d; k0 += 16) {
        as[y][x] = k0 + x < d ? p[k0 + x] : 0.f;
        bs[y][x] = k0 + x < d ? q[k0 + x] : 0.f;
        __syncthreads();
        if (kind == 0) {
#pragma unroll
            for (int k = 0; k < 16; ++k) s += fabsf(as[y][k] - bs[x][k]);
        } else if (kind == 1) {
#pragma unroll
            for (int k = 0; k < 16; ++k) {
                float v = as[y][k] - bs[x][k];
                s = fmaf(v, v, s);
            }
        } else {
#pragma unroll
            for (int k = 0; k < 16; ++k) s = fmaxf(s, fabsf(as[y][k] - bs[x][k]));
        }
        __syncthreads();
    }
    if (i < m && j < n) out[(size_t)i * n + j] = s;
}
