// The largest number of each part and where it is first; of no numbers, minus infinity and -1.
__global__ void ragged(const float* x, const int* start, float* most, int* where, int parts) {
    int p = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (p >= parts) return;
    int from = start[p], to = start[p + 1];
    float m = -INFINITY;
    int at = -1;
    // Of the first place a NaN stays, as nothing is larger than it.
    bool stays = from < to && x[from] != x[from];
    for (int i = from + lane; i < to; i += 32)
        if (x[i] > m || (at < 0 && x[i] == m)) m = x[i], at = i;
    for (int d = 16; d > 0; d >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, m, d);
        int there = __shfl_xor_sync(0xffffffffu, at, d);
        if (there >= 0 && (at < 0 || other > m)) m = other, at = there;
    }
    if (lane) return;
    most[p] = stays ? x[from] : m;
    where[p] = stays ? from : at;
}
