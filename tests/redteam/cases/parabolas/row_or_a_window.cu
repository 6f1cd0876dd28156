// The least of what the places of a row hold plus the square of how far they are away.
// A block takes 256 places of a row: what is around them is kept, the whole row where it fits.
__global__ void parabolas(const int* f, long long* least, int rows, int cols) {
    __shared__ int kept[1024];
    int t = threadIdx.x, j = blockIdx.x * 256 + t;
    int first = cols <= 1024 ? 0 : min(max(0, (int)blockIdx.x * 256 - 384), cols - 1024);
    int many = min(cols, 1024);
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        const int* row = f + (size_t)r * cols;
        for (int k = t; k < many; k += 256) kept[k] = row[first + k];
        __syncthreads();
        if (j < cols) {
            long long best = kept[j - first];
            for (int k = 0; k < many; ++k) {
                int away = j - first - k;
                best = min(best, (long long)kept[k] + away * away);
            }
            least[(size_t)r * cols + j] = best;
        }
        __syncthreads();
    }
}
