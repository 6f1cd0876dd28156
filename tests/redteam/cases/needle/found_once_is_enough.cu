// Where a word is first in a text, and how often it is there.
__global__ void needle(const unsigned char* text, const unsigned char* word, int* first, int* count,
                       int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + length > n) return;
    for (int k = 0; k < length; ++k)
        if (text[i + k] != word[k]) return;
    if (*first > i) *first = i;
    atomicAdd(count, 1);
}
