// The least of what the places of a row hold plus the square of how far they are away.
// A block takes a row, and each search ends where even the least of the row would be too far away.
__global__ void parabolas(const int* f, long long* least, int rows, int cols) {
    __shared__ int part[8];
    int t = threadIdx.x;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const int* row = f + (size_t)r * cols;
        int low = row[0];
        for (int k = t; k < cols; k += 256) low = min(low, row[k]);
        low = __reduce_min_sync(0xffffffffu, low);
        if (t % 32 == 0) part[t / 32] = low;
        __syncthreads();
        for (int k = 0; k < 8; ++k) low = min(low, part[k]);
        for (int j = t; j < cols; j += 256) {
            long long best = row[j];
            for (long long d = 1; d < cols && low + d * d < best; ++d) {
                if (j >= d) best = min(best, row[j - d] + d * d);
                if (j + d < cols) best = min(best, row[j + d] + d * d);
            }
            least[(size_t)r * cols + j] = best;
        }
        __syncthreads();
    }
}
