// The first column of each row that has the same key as this one.
__global__ void firstplace(const int* key, int* first, int rows, int cols) {
    // A table of the keys of a row: a slot holds the first column that is known to have its key.
    __shared__ int slot[1024];
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
    for (int s = t; s < 1024; s += blockDim.x) slot[s] = -1;
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
        int k = mine[c];
        unsigned h = (unsigned)k * 2654435769u >> 22;
        for (;;) {
            int there = atomicCAS(&slot[h], -1, c);
            if (there < 0) break;
            if (mine[there] == k) {
                atomicMin(&slot[h], c);
                break;
            }
            h = (h + 1) & 1023u;
        }
    }
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
        int k = mine[c];
        unsigned h = (unsigned)k * 2654435769u >> 22;
        while (mine[slot[h]] != k) h = (h + 1) & 1023u;
        out[c] = slot[h];
    }
}
