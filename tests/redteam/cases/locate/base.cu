// Where a read fits a sequence best: the first of the places at which the fewest letters differ, and how many do.
// A read longer than the sequence has no place, -1.
__global__ void locate(const unsigned char* reads, const unsigned char* sequence, int* place, int* differ, int n,
                       int len, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* read = reads + (size_t)i * len;
    int best = len + 1, at = -1;
    for (int p = 0; p + len <= m; ++p) {
        int d = 0;
        for (int j = 0; j < len; ++j) d += read[j] != sequence[p + j];
        if (d < best) best = d, at = p;
    }
    place[i] = at;
    differ[i] = best;
}
