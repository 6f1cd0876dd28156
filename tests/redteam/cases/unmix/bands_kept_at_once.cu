// How much of each material is in each pixel: a matrix applied to the bands of a pixel, and nothing below zero.
// The matrix is in shared memory, all bands of 64 materials; a thread has four pixels and four materials.
__global__ void unmix(const float* cube, const float* m, float* out, int pixels, int bands, int ends) {
    extern __shared__ float part[];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, tiles = (ends + 63) / 64;
    size_t p0 = (size_t)(blockIdx.x / tiles) * 64;
    int e0 = blockIdx.x % tiles * 64;
    float sum[4][4] = {};
    int many = min(256, bands);
    for (int k = t; k < many * 64; k += 256)
        part[k] = e0 + k % 64 < ends ? m[(size_t)(k / 64) * ends + e0 + k % 64] : 0.f;
    __syncthreads();
    for (int b = 0; b < many; ++b)
        for (int i = 0; i < 4; ++i) {
            size_t p = p0 + ty + 16 * i;
            float v = p < pixels ? cube[p * bands + b] : 0.f;
            for (int j = 0; j < 4; ++j) sum[i][j] += v * part[b * 64 + tx + 16 * j];
        }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            size_t p = p0 + ty + 16 * i;
            int e = e0 + tx + 16 * j;
            if (p < pixels && e < ends) out[p * ends + e] = fmaxf(sum[i][j], 0.f);
        }
}
