// The acid that each word of three letters stands for. Letters are 0 to 3 (T, C, A, G); any other is unknown, and so is its word.
__global__ void codon(const unsigned char* letter, unsigned char* acid, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const char* names = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG";
    int word = 0;
    bool known = true;
    for (int k = 0; k < 3; ++k) {
        int v = letter[3 * (size_t)i + k];
        known = known && v < 4;
        word = word * 4 + v;
    }
    acid[i] = known ? names[word] : 'X';
}
