__device__ __forceinline__ void load(const float* x, float (*a)[16], float (*b)[16], int from, int rows,
                                     int d, int lane) {
    int column = lane % 16;
    int left = blockIdx.y * 16 + column, right = blockIdx.x * 16 + column;
    for (int e = lane / 16; e < 32; e += 2) {
        int r = from + e;
        a[e][column] = r < rows && left < d ? x[(size_t)r * d + left] : 0.f;
        b[e][column] = r < rows && right < d ? x[(size_t)r * d + right] : 0.f;
    }
}

__global__ void gram(const float* x, float* g, int rows, int d) {
    __shared__ float a[2][32][16], b[2][32][16];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, tiles = (rows + 31) / 32;
    bool loads = t >= 256;
    float s = 0.f;
    if (loads) load(x, a[0], b[0], 0, rows, d, t - 256);
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (loads) {
            if (k + 1 < tiles) load(x, a[(k + 1) & 1], b[(k + 1) & 1], (k + 1) * 32, rows, d, t - 256);
        } else {
#pragma unroll
            for (int e = 0; e < 32; ++e) s = fmaf(a[k & 1][e][ty], b[k & 1][e][tx], s);
        }
        __syncthreads();
    }
    int j = blockIdx.x * 16 + tx, i = blockIdx.y * 16 + ty;
    if (!loads && i < d && j < d) g[(size_t)i * d + j] += s;
}
