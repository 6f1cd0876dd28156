// Where a word begins in a text, in any order, and how often it does.
__global__ void grep(const unsigned char* text, const unsigned char* word, int* where, int* count, int n, int m) {
    // Sixteen places a thread; what slides through the window is known by its hash.
    int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
    int last = min(first + 16, n - m + 1);
    if (first >= last) return;
    unsigned want = 0, have = 0, gone = 5 * m < 32 ? 5 * m : 32;
    for (int k = 0; k < m; ++k) want = want << 5 ^ word[k];
    for (int k = 0; k + 1 < m; ++k) have = have << 5 ^ text[first + k];
    for (int i = first; i < last; ++i) {
        have = have << 5 ^ text[i + m - 1];
        if (have == want) where[atomicAdd(count, 1)] = i;
        // The oldest letter leaves; behind 32 bits it has left by itself.
        if (gone < 32) have ^= (unsigned)text[i] << (gone - 5);
    }
}
