// The least of what the places of a row hold plus the square of how far they are away.
// Outwards from each place, until nothing less has come for long.
__global__ void parabolas(const int* f, long long* least, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols) return;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        const int* row = f + (size_t)r * cols;
        long long best = row[j];
        int since = 0;
        for (int d = 1; d < cols && since < 200; ++d) {
            long long far = (long long)d * d, before = best;
            if (j >= d) best = min(best, row[j - d] + far);
            if (j + d < cols) best = min(best, row[j + d] + far);
            since = best < before ? 0 : since + 1;
        }
        least[(size_t)r * cols + j] = best;
    }
}
