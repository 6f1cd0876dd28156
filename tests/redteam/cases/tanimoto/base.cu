// How alike fingerprints are: the bits that both have among those that one of them has; all alike where neither has
// any.
__global__ void tanimoto(const unsigned* a, const unsigned* b, float* out, int n, int m, int words) {
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    if (i >= n || j >= m) return;
    int both = 0, either = 0;
    for (int w = 0; w < words; ++w) {
        unsigned x = a[(size_t)i * words + w], y = b[(size_t)j * words + w];
        both += __popc(x & y);
        either += __popc(x | y);
    }
    out[(size_t)i * m + j] = either ? __fdiv_rn((float)both, (float)either) : 1.f;
}
