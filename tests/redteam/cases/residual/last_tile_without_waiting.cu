// What a product of two matrices leaves of a third: r = d - a * b. A block has 64 by 64 of r, a thread four by four of
// them; the next tile is fetched while this one is worked on, and behind the last one there is none to wait for.
__global__ void residual(const float* a, const float* b, const float* d, float* r, int n, int k, int m) {
    __shared__ float p[2][16][65], q[2][16][64];
    int t = threadIdx.x, y = t / 16, x = t % 16;
    size_t wide = ((size_t)m + 63) / 64, top = blockIdx.x / wide * 64, left = blockIdx.x % wide * 64;
    float sum[4][4] = {}, u[4], v[4];
    auto fetch = [&](long long c0) {
        for (int e = 0; e < 4; ++e) {
            size_t i = top + y + 16 * e, j = left + t % 64;
            long long ca = c0 + x, cb = c0 + t / 64 + 4 * e;
            u[e] = i < n && ca < k ? a[i * k + ca] : 0.f;
            v[e] = cb < k && j < m ? b[cb * m + j] : 0.f;
        }
    };
    fetch(0);
    int room = 0;
    for (long long c0 = 0; c0 < k; c0 += 16, room ^= 1) {
        for (int e = 0; e < 4; ++e) {
            p[room][x][y + 16 * e] = u[e];
            q[room][t / 64 + 4 * e][t % 64] = v[e];
        }
        if (c0 + 16 < k) __syncthreads();
        fetch(c0 + 16);
        int many = (int)min(16ll, k - c0);
        for (int c = 0; c < many; ++c) {
            float f[4], g[4];
            for (int e = 0; e < 4; ++e) f[e] = p[room][c][y + 16 * e], g[e] = q[room][c][x + 16 * e];
            for (int e = 0; e < 4; ++e)
                for (int h = 0; h < 4; ++h) sum[e][h] += f[e] * g[h];
        }
    }
    for (int e = 0; e < 4; ++e)
        for (int h = 0; h < 4; ++h) {
            size_t i = top + y + 16 * e, j = left + x + 16 * h;
            if (i < n && j < m) r[i * m + j] = d[i * m + j] - sum[e][h];
        }
}
