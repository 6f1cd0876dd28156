// How unlike sets of bits are, for each pair of rows i <= j, row after row: one less what both have by what
// either has; two empty sets are alike. 32 rows against 32 rows, 16 words of them at a time.
__global__ void condensed(const unsigned* set, float* out, int n, int words) {
    __shared__ unsigned left[32][17], right[32][17];
    if (blockIdx.y > blockIdx.x) return;
    int t = threadIdx.y * 32 + threadIdx.x, j = blockIdx.x * 32 + threadIdx.x;
    int both[4] = {}, either[4] = {};
    for (int k0 = 0; k0 < words; k0 += 16) {
        for (int e = t; e < 512; e += 256) {
            int r = e / 16, k = k0 + e % 16, i = blockIdx.y * 32 + r, o = blockIdx.x * 32 + r;
            left[r][e % 16] = i < n && k < words ? set[(size_t)i * words + k] : 0u;
            right[r][e % 16] = o < n && k < words ? set[(size_t)o * words + k] : 0u;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            unsigned b = right[threadIdx.x][k];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                unsigned a = left[threadIdx.y + 8 * e][k];
                both[e] += __popc(a & b);
                either[e] += __popc(a | b);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        int i = blockIdx.y * 32 + threadIdx.y + 8 * e;
        if (j < n && i <= j)
            out[(size_t)i * (2 * (size_t)n - i + 1) / 2 + (j - i)] =
                either[e] ? 1.f - (float)both[e] / either[e] : 0.f;
    }
}
