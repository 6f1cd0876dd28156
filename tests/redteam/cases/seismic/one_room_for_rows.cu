// A step of a wave in two dimensions, by differences of the eighth order; nothing moves outside of the field. A thread
// goes down a column with nine rows of it in registers; neighbours in a row are in shared memory.
__global__ void seismic(const float* u, const float* v, float* next, int h, int w) {
    __shared__ float row[136];
    const float c[5] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
    int t = threadIdx.x, x0 = blockIdx.x * 128, x = x0 + t, y0 = blockIdx.y * 64;
    float col[9];
    col[0] = 0.f;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int y = y0 - 4 + k;
        col[k + 1] = x < w && y >= 0 && y < h ? u[(size_t)y * w + x] : 0.f;
    }
    for (int y = y0; y < y0 + 64 && y < h; ++y) {
        size_t i = (size_t)y * w + x;
#pragma unroll
        for (int k = 0; k < 8; ++k) col[k] = col[k + 1];
        col[8] = x < w && y + 4 < h ? u[i + (size_t)4 * w] : 0.f;
        row[t + 4] = col[4];
        if (t < 4) {
            row[t] = x >= 4 ? u[i - 4] : 0.f;
            row[t + 132] = x + 128 < w ? u[i + 128] : 0.f;
        }
        __syncthreads();
        if (x >= w) continue;
        float lap = 2 * c[0] * col[4];
#pragma unroll
        for (int k = 1; k < 5; ++k) lap += c[k] * (row[t + 4 - k] + row[t + 4 + k] + col[4 - k] + col[4 + k]);
        next[i] = 2 * col[4] - next[i] + v[i] * lap;
    }
}
