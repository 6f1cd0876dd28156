// Beams of a row of receivers: at each moment a sum over the receivers, weighed for each beam. Sixteen results a
// thread; 32 receivers of 64 beams and of 64 moments are held at a time.
__global__ void beamform(const float* x, const float* w, float* y, int receivers, int beams, int moments) {
    __shared__ float a[32][65], c[32][64];
    int t = threadIdx.x, b0 = blockIdx.y * 64, m0 = blockIdx.x * 64, i = t / 16, j = t % 16;
    float sum[4][4] = {};
    for (int r0 = 0; r0 < receivers; r0 += 32) {
        int many = min(32, receivers - r0);
        for (int e = t; e < 32 * 64; e += 256) {
            int b = b0 + e / 32, r = e % 32;
            if (r < many) a[r][e / 32] = b < beams ? w[(size_t)b * receivers + r0 + r] : 0.f;
            int m = m0 + e % 64;
            r = e / 64;
            if (r < many) c[r][e % 64] = m < moments ? x[(size_t)(r0 + r) * moments + m] : 0.f;
        }
        __syncthreads();
        for (int r = 0; r < many; ++r)
#pragma unroll
            for (int u = 0; u < 4; ++u)
#pragma unroll
                for (int v = 0; v < 4; ++v) sum[u][v] += a[r][i * 4 + u] * c[r][j + 16 * v];
    }
#pragma unroll
    for (int u = 0; u < 4; ++u)
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            int b = b0 + i * 4 + u, m = m0 + j + 16 * v;
            if (b < beams && m < moments) y[(size_t)b * moments + m] = sum[u][v];
        }
}
