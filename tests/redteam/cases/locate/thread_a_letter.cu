// Where a read fits a sequence best: the first of the places at which the fewest letters differ, and how many do.
// A read longer than the sequence has no place, -1. A block a read: a row of its threads a letter, a column a place.
__global__ void locate(const unsigned char* reads, const unsigned char* sequence, int* place, int* differ, int n,
                       int len, int m) {
    __shared__ int apart[32];
    int i = blockIdx.x, x = threadIdx.x, j = threadIdx.y;
    unsigned char letter = reads[(size_t)i * len + j];
    int best = len + 1, at = -1;
    for (int p0 = 0; p0 + len <= m; p0 += 32) {
        if (j == 0) apart[x] = 0;
        __syncthreads();
        int p = p0 + x;
        if (p + len <= m && letter != sequence[p + j]) atomicAdd(&apart[x], 1);
        __syncthreads();
        if (j == 0 && p + len <= m && apart[x] < best) best = apart[x], at = p;
    }
    if (j) return;
    int fewest = __reduce_min_sync(0xffffffffu, best);
    unsigned first = __reduce_min_sync(0xffffffffu, best == fewest ? (unsigned)at : 0xffffffffu);
    if (x) return;
    place[i] = (int)first;
    differ[i] = fewest;
}
