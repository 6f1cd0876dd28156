// The first column of each row that has the same key as this one.
__global__ void firstplace(const int* key, int* first, int rows, int cols) {
    // A table of the keys of a row, and beside each the first column that has it.
    __shared__ int held[1024], place[1024];
    const int* mine = key + (size_t)blockIdx.x * cols;
    int* out = first + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    if (cols > 1024) {
        for (int c = t; c < cols; c += blockDim.x) {
            int at = 0;
            while (mine[at] != mine[c]) ++at;
            out[c] = at;
        }
        return;
    }
    for (int s = t; s < 1024; s += blockDim.x) {
        held[s] = 0;
        place[s] = cols;
    }
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
        int k = mine[c];
        unsigned h = (unsigned)k * 2654435769u >> 22;
        for (;;) {
            int there = atomicCAS(&held[h], 0, k);
            if (there == 0 || there == k) break;
            h = (h + 1) & 1023u;
        }
        atomicMin(&place[h], c);
    }
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
        int k = mine[c];
        unsigned h = (unsigned)k * 2654435769u >> 22;
        for (int steps = 0; held[h] != k && steps < 1024; ++steps) h = (h + 1) & 1023u;
        out[c] = place[h];
    }
}
