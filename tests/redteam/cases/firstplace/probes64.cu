// A table of the keys of a row: a slot holds the first column that is known to have its key. Never more than half full.
__global__ void firstplace(const int* key, int* first, int rows, int cols) {
    __shared__ int slot[8192];
    const int* mine = key + (size_t)blockIdx.x * cols;
    int* out = first + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    if (cols > 4096) {
        for (int c = t; c < cols; c += blockDim.x) {
            int at = 0;
            while (mine[at] != mine[c]) ++at;
            out[c] = at;
        }
        return;
    }
    for (int s = t; s < 8192; s += blockDim.x) slot[s] = -1;
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
        int k = mine[c];
        unsigned h = (unsigned)k * 2654435769u >> 19;
        for (int probe = 0; probe < 64; ++probe) {
            int there = atomicCAS(&slot[h], -1, c);
            if (there < 0) break;
            if (mine[there] == k) {
                atomicMin(&slot[h], c);
                break;
            }
            h = (h + 1) & 8191u;
        }
    }
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
        int k = mine[c], found = c;
        unsigned h = (unsigned)k * 2654435769u >> 19;
        for (int probe = 0; probe < 64; ++probe) {
            if (slot[h] < 0) break;
            if (mine[slot[h]] == k) { found = slot[h]; break; }
            h = (h + 1) & 8191u;
        }
        out[c] = found;
    }
}
