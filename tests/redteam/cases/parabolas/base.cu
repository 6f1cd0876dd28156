// The least of what the places of a row hold plus the square of how far they are away.
__global__ void parabolas(const int* f, long long* least, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols) return;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        const int* row = f + (size_t)r * cols;
        long long best = row[j];
        for (int k = 0; k < cols; ++k) {
            long long away = j - k;
            best = min(best, row[k] + away * away);
        }
        least[(size_t)r * cols + j] = best;
    }
}
