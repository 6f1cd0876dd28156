// A layer of one pixel's width: each channel of the result is a sum over the channels of its pixel, and no less than zero.
// Sixteen results a thread. Beyond the last channel there are no weights, so what is read there does not count.
__global__ void pointwise(const float* x, const float* w, const float* bias, float* y, int cin, int cout, int pix) {
    __shared__ float a[16][68], b[16][64];
    int o0 = blockIdx.y * 64, p0 = blockIdx.x * 64, i = threadIdx.x / 16, j = threadIdx.x % 16;
    float sum[4][4] = {};
    for (int c0 = 0; c0 < cin; c0 += 16) {
        for (int e = threadIdx.x; e < 1024; e += 256) {
            int o = o0 + e / 16, c = c0 + e % 16;
            a[e % 16][e / 16] = o < cout && c < cin ? w[(size_t)o * cin + c] : 0.f;
            int p = p0 + e % 64;
            b[e / 64][e % 64] = p < pix ? x[(size_t)(c0 + e / 64) * pix + p] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < 16; ++c)
            for (int u = 0; u < 4; ++u)
                for (int v = 0; v < 4; ++v) sum[u][v] += a[c][i * 4 + u] * b[c][j + 16 * v];
        __syncthreads();
    }
    for (int u = 0; u < 4; ++u)
        for (int v = 0; v < 4; ++v) {
            int o = o0 + i * 4 + u, p = p0 + j + 16 * v;
            if (o < cout && p < pix) y[(size_t)o * pix + p] = fmaxf(sum[u][v] + bias[o], 0.f);
        }
}
