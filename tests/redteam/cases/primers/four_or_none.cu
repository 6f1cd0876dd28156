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

// Where a primer may begin: four windows to a thread.
__global__ void primers(const unsigned char* letter, int* place, int* count, int n, int k, int low, int high) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first + 3 > n - k) return;
    unsigned found = suiting(letter, first, 4, k, low, high);
    if (!found) return;
    int at = atomicAdd(count, __popc(found));
    for (; found; found &= found - 1) place[at++] = first + __ffs(found) - 1;
}
