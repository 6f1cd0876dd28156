// Tells of four windows that follow each other which ones suit. A letter enters at the right and one leaves at the left;
// what is known of runs is where the last one of five ended.
__device__ unsigned suiting(const unsigned char* letter, int first, int windows, int k, int low, int high) {
    int strong = 0, run = 0, before = -1, ended = -1;
    unsigned found = 0;
    for (int j = 0; j < k + windows - 1; ++j) {
        int c = letter[first + j];
        strong += c == 1 || c == 2;
        run = c == before ? run + 1 : 1;
        before = c;
        if (run > 4) ended = j;
        int w = j - k + 1;
        if (w < 0) continue;
        if (w > 0) {
            int gone = letter[first + w - 1];
            strong -= gone == 1 || gone == 2;
        }
        // A run of five that ends at `ended` began four letters earlier.
        if (strong * 100 >= low * k && strong * 100 <= high * k && ended < w + 4) found |= 1u << w;
    }
    return found;
}

// Where a primer may begin. A block lists its places, and moves the end of the list on by as many.
__global__ void primers(const unsigned char* letter, int* place, int* count, int n, int k, int low, int high) {
    __shared__ int list[1024], many, begin;
    if (threadIdx.x == 0) many = 0;
    __syncthreads();
    int first = (blockIdx.x * 256 + threadIdx.x) * 4, windows = min(4, n - k + 1 - first);
    if (windows > 0) {
        unsigned found = suiting(letter, first, windows, k, low, high);
        int at = found ? atomicAdd(&many, __popc(found)) : 0;
        for (; found; found &= found - 1) list[at++] = first + __ffs(found) - 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        begin = atomicAdd(count, 0);
        atomicExch(count, begin + many);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < many; e += 256) place[begin + e] = list[e];
}
