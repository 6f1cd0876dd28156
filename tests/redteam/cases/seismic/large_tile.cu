// A step of a wave in two dimensions, by differences of the eighth order; nothing moves outside of the field. A block
// has 128 by 128 points, and four more on each side, in shared memory.
__global__ void seismic(const float* u, const float* v, float* next, int h, int w) {
    extern __shared__ float tile[];
    const float c[5] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
    int x0 = blockIdx.x * 128, y0 = blockIdx.y * 128, t = threadIdx.x;
    for (int s = t; s < 136 * 136; s += 512) {
        int x = x0 + s % 136 - 4, y = y0 + s / 136 - 4;
        tile[s] = x >= 0 && x < w && y >= 0 && y < h ? u[(size_t)y * w + x] : 0.f;
    }
    __syncthreads();
    int x = x0 + t % 128;
    for (int yy = t / 128; yy < 128; yy += 4) {
        int y = y0 + yy;
        if (x >= w || y >= h) break;
        const float* at = tile + (yy + 4) * 136 + t % 128 + 4;
        float lap = 2 * c[0] * at[0];
#pragma unroll
        for (int k = 1; k < 5; ++k) lap += c[k] * (at[-k] + at[k] + at[-136 * k] + at[136 * k]);
        size_t i = (size_t)y * w + x;
        next[i] = 2 * at[0] - next[i] + v[i] * lap;
    }
}
