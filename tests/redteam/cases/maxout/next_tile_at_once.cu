// A layer of units that are the larger of two: rows of x times two matrices, each with what is added to it.
// Tiles in shared memory; a block has 32 rows and 32 units, a thread four of a column.
__global__ void maxout(const float* x, const float* w, const float* b, float* out, int n, int k, int m) {
    __shared__ float a[32][33], p[32][32], q[32][32];
    int t = threadIdx.x, across = (m + 31) / 32, z = t % 32, y0 = t / 32;
    size_t i0 = (size_t)(blockIdx.x / across) * 32;
    int j = blockIdx.x % across * 32 + z;
    float u[4] = {}, v[4] = {};
    for (size_t c0 = 0; c0 < k; c0 += 32) {
        for (int y = y0; y < 32; y += 8) {
            a[y][z] = i0 + y < n && c0 + z < k ? x[(i0 + y) * k + c0 + z] : 0.f;
            bool in = c0 + y < k && j < m;
            p[y][z] = in ? w[(c0 + y) * m + j] : 0.f;
            q[y][z] = in ? w[(k + c0 + y) * m + j] : 0.f;
        }
        __syncthreads();
        int end = k - c0 < 32 ? k - c0 : 32;
        for (int c = 0; c < end; ++c)
            for (int s = 0; s < 4; ++s) {
                float f = a[y0 + 8 * s][c];
                u[s] += f * p[c][z];
                v[s] += f * q[c][z];
            }
    }
    for (int s = 0; s < 4; ++s) {
        size_t i = i0 + y0 + 8 * s;
        if (i < n && j < m) out[i * m + j] = fmaxf(u[s] + b[j], v[s] + b[m + j]);
    }
}
