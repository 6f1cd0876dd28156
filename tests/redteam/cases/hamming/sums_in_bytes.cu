// In how many bits each word of a and each of b differ; what lies beyond `bits` is not looked at.
__global__ void hamming(const unsigned* a, const unsigned* b, int* apart, int m, int n, int bits) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    int words = (bits + 31) / 32;
    unsigned char sum = 0;
    for (int k = 0; k < words; ++k) {
        unsigned d = a[row * words + k] ^ b[col * words + k];
        if (k == words - 1 && bits % 32) d &= (1u << bits % 32) - 1;
        sum += __popc(d);
    }
    apart[row * n + col] = sum;
}
