// How many columns each row of a product of sparse matrices has: rows of a have ka entries, each a row of b, which has
// kb entries; columns come more than once.
__global__ void symbolic(const int* a, const int* b, int* count, int rows, int ka, int kb) {
    // A warp a row, two entries a lane: equal ones find each other, the second half looks into the first as well.
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, entries = ka * kb;
    if (r >= rows) return;
    const int* own = a + (size_t)r * ka;
    const unsigned whole = 0xffffffffu;
    int e = lane + 32, first = -1, second = -1;
    if (lane < entries) first = b[(size_t)own[lane / kb] * kb + lane % kb];
    if (e < entries) second = b[(size_t)own[e / kb] * kb + e % kb];
    bool leads = __ffs(__match_any_sync(whole, first)) == lane + 1;
    int found = __popc(__ballot_sync(whole, leads && first >= 0));
    if (entries > 32) {
        leads = __ffs(__match_any_sync(whole, second)) == lane + 1;
        for (int k = 0; k < 32; ++k) {
            int other = __shfl_sync(whole, first, k);
            leads = leads && other != second;
        }
        found += __popc(__ballot_sync(whole, leads && second >= 0));
    }
    if (lane == 0) count[r] = found;
}
