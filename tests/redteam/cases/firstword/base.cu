// For each word the first word with the same letters in the same places.
__global__ void firstword(const unsigned char* letter, int* first, int n, int len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* mine = letter + (size_t)i * len;
    int found = i;
    for (int k = 0; k < i && found == i; ++k) {
        const unsigned char* other = letter + (size_t)k * len;
        int c = 0;
        while (c < len && other[c] == mine[c]) ++c;
        if (c == len) found = k;
    }
    first[i] = found;
}
