__device__ long long begin(long long i, int n) { return i * (2ll * n - i + 1) / 2; }

// How unlike sets of bits are, for each pair of rows i <= j, row after row: one less what both have by what
// either has; two empty sets are alike. The pairs are one line of work, so that no thread is idle.
__global__ void condensed(const unsigned* set, float* out, int n, int words) {
    long long pairs = begin(n, n);
    for (long long p = blockIdx.x * (long long)blockDim.x + threadIdx.x; p < pairs;
         p += (long long)gridDim.x * blockDim.x) {
        float wide = 2.f * n + 1.f;
        int i = (int)((wide - sqrtf(fmaxf(wide * wide - 8.f * p, 0.f))) * 0.5f);
        i = max(0, min(i, n - 1));
        // The root is near; whole numbers tell which row it is.
        while (begin(i, n) > p) --i;
        while (begin(i + 1, n) <= p) ++i;
        int j = i + (int)(p - begin(i, n));
        int both = 0, either = 0;
        for (int k = 0; k < words; ++k) {
            unsigned a = set[(size_t)i * words + k], b = set[(size_t)j * words + k];
            both += __popc(a & b);
            either += __popc(a | b);
        }
        out[p] = 1.f - (float)both / max(either, 1);
    }
}
