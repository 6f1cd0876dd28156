// How unlike sets of bits are, for each pair of rows i <= j, row after row: one less what both have by what
// either has; two empty sets are alike.
__global__ void condensed(const unsigned* set, float* out, int n, int words) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= n || i > j) return;
    int both = 0, either = 0;
    for (int k = 0; k < words; ++k) {
        unsigned a = set[(size_t)i * words + k], b = set[(size_t)j * words + k];
        both += __popc(a & b);
        either += __popc(a | b);
    }
    out[(size_t)i * (2 * (size_t)n - i + 1) / 2 + (j - i)] = either ? 1.f - (float)both / either : 0.f;
}
