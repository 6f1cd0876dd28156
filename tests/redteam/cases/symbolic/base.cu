// How many columns each row of a product of sparse matrices has: rows of a have ka entries, each a row of b, which has
// kb entries; columns come more than once.
__global__ void symbolic(const int* a, const int* b, int* count, int rows, int ka, int kb) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* own = a + (size_t)r * ka;
    int found = 0;
    for (int e = 0; e < ka * kb; ++e) {
        int c = b[(size_t)own[e / kb] * kb + e % kb];
        bool known = false;
        for (int t = 0; t < e && !known; ++t) known = b[(size_t)own[t / kb] * kb + t % kb] == c;
        found += !known;
    }
    count[r] = found;
}
