// Where a word begins in a text, in any order, and how often it does.
__global__ void grep(const unsigned char* text, const unsigned char* word, int* where, int* count, int n, int m) {
    // Sixteen places a thread; up to four letters slide through a register and ask for the others.
    int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x), head = min(m, 4);
    int last = min(first + 16, n - m + 1);
    if (first >= last) return;
    unsigned want = 0, have = 0;
    for (int k = 0; k < head; ++k) want |= (unsigned)word[k] << 8 * k;
    for (int k = 0; k + 1 < head; ++k) have |= (unsigned)text[first + k] << 8 * (k + 1);
    for (int i = first; i < last; ++i) {
        have = have >> 8 | (unsigned)text[i + head - 1] << 8 * (head - 1);
        if (have != want) continue;
        int k = head;
        while (k < m && text[i + k] == word[k]) ++k;
        if (k == m) where[atomicAdd(count, 1)] = i;
    }
}
