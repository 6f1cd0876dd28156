// The best place of a motif in each sequence. A letter has a weight at each place of the motif; of places that are
// equally good the first one counts. A sequence that is shorter than the motif has none.
__global__ void motifs(const unsigned char* letter, const int* weight, int* best, int* place, int n, int length,
                       int width) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= n) return;
    const unsigned char* x = letter + (size_t)s * length;
    int top = -2147483647 - 1, at = -1;
    for (int i = 0; i + width <= length; ++i) {
        int sum = 0;
        for (int j = 0; j < width; ++j) sum += weight[4 * j + x[i + j]];
        if (at < 0 || sum > top) {
            top = sum;
            at = i;
        }
    }
    best[s] = top;
    place[s] = at;
}
