// The first column of each row that has the same key as this one.
__global__ void firstplace(const int* key, int* first, int rows, int cols) {
    // A table at most a quarter full: a key is within sixteen slots of its own.
    __shared__ int slot[1024];
    const int* mine = key + (size_t)blockIdx.x * cols;
    int* out = first + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    if (cols > 256) {
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
        for (int step = 0; step < 16; ++step) {
            int* at = &slot[(k + step) & 1023];
            int there = atomicCAS(at, -1, c);
            if (there < 0) break;
            if (mine[there] == k) {
                atomicMin(at, c);
                break;
            }
        }
    }
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
        int k = mine[c], found = c;
        for (int step = 0; step < 16; ++step) {
            int there = slot[(k + step) & 1023];
            if (there < 0) break;
            if (mine[there] == k) {
                found = there;
                break;
            }
        }
        out[c] = found;
    }
}
