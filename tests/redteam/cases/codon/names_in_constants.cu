__constant__ unsigned char names[64] = {
    'F', 'F', 'L', 'L', 'S', 'S', 'S', 'S', 'Y', 'Y', '*', '*', 'C', 'C', '*', 'W',
    'L', 'L', 'L', 'L', 'P', 'P', 'P', 'P', 'H', 'H', 'Q', 'Q', 'R', 'R', 'R', 'R',
    'I', 'I', 'I', 'M', 'T', 'T', 'T', 'T', 'N', 'N', 'K', 'K', 'S', 'S', 'R', 'R',
    'V', 'V', 'V', 'V', 'A', 'A', 'A', 'A', 'D', 'D', 'E', 'E', 'G', 'G', 'G', 'G'};

// The acid that each word of three letters stands for. Letters are 0 to 3 (T, C, A, G); any other is unknown, and so is its word.
__global__ void codon(const unsigned char* letter, unsigned char* acid, int n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        unsigned a = letter[3 * i], b = letter[3 * i + 1], c = letter[3 * i + 2];
        acid[i] = (a | b | c) < 4 ? names[a << 4 | b << 2 | c] : 'X';
    }
}
