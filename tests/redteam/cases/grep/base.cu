// Where a word begins in a text, in any order, and how often it does.
__global__ void grep(const unsigned char* text, const unsigned char* word, int* where, int* count, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + m > n) return;
    for (int k = 0; k < m; ++k)
        if (text[i + k] != word[k]) return;
    where[atomicAdd(count, 1)] = i;
}
