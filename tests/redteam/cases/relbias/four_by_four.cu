// Scores of queries and keys before a softmax: their products, and a bias for how far apart they are, which is the same
// from `span` places on. A block has 64 queries and 64 keys, 128 numbers of each at a time in shared memory; a thread has
// four times four of the scores.
__global__ void relbias(const float* q, const float* k, const float* bias, float* out, int m, int n, int d, int span) {
    extern __shared__ float room[];
    float *a = room, *b = room + 64 * 129;
    int t = threadIdx.x, x = t % 16, y = t / 16;
    size_t wide = ((size_t)n + 63) / 64, top = blockIdx.x / wide * 64, left = blockIdx.x % wide * 64;
    float sum[4][4] = {};
    for (size_t c0 = 0; c0 < d; c0 += 128) {
        int many = (int)min((size_t)128, d - c0);
        for (int s = t; s < 64 * 128; s += 256) {
            int r = s / 128, c = s % 128;
            if (c >= many) continue;
            a[r * 129 + c] = top + r < m ? q[(top + r) * d + c0 + c] : 0.f;
            b[r * 129 + c] = left + r < n ? k[(left + r) * d + c0 + c] : 0.f;
        }
        __syncthreads();
        for (int c = 0; c < many; ++c) {
            float u[4], v[4];
#pragma unroll
            for (int o = 0; o < 4; ++o) {
                u[o] = a[(y + 16 * o) * 129 + c];
                v[o] = b[(x + 16 * o) * 129 + c];
            }
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int s = 0; s < 4; ++s) sum[r][s] += u[r] * v[s];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            size_t i = top + y + 16 * r, j = left + x + 16 * s;
            if (i >= m || j >= n) continue;
            long long apart = min(max((long long)j - (long long)i, -(long long)span), (long long)span);
            out[i * n + j] = sum[r][s] + bias[apart + span];
        }
}
