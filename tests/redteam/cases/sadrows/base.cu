// How far two rows of bytes are apart: the sum of absolute differences.
__global__ void sadrows(const unsigned char* a, const unsigned char* b, unsigned* out, int rows,
                        int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    unsigned s = 0;
    for (int c = 0; c < cols; ++c) {
        int d = (int)a[(size_t)r * cols + c] - (int)b[(size_t)r * cols + c];
        s += d < 0 ? -d : d;
    }
    out[r] = s;
}
