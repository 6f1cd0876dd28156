// The least of what the places of a row hold plus the square of how far they are away.
// A block takes a row. Tiles of 32 are passed over whose least is too far away even at their nearer end; rows of
// more than 512 tiles are searched wholly.
__global__ void parabolas(const int* f, long long* least, int rows, int cols) {
    __shared__ int tile[512];
    int t = threadIdx.x, tiles = (cols + 31) / 32;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const int* row = f + (size_t)r * cols;
        if (tiles <= 512)
            for (int k = t / 32; k < tiles; k += 8) {
                int low = __reduce_min_sync(0xffffffffu, row[min(32 * k + t % 32, cols - 1)]);
                if (t % 32 == 0) tile[k] = low;
            }
        __syncthreads();
        for (int j = t; j < cols; j += 256) {
            long long best = row[j];
            // The own tile first, then by turns those to its left and right.
            for (int turn = 0; turn < 2 * tiles; ++turn) {
                int k = turn % 2 ? j / 32 - (turn + 1) / 2 : j / 32 + turn / 2;
                if (k < 0 || k >= tiles) continue;
                long long gap = k == j / 32 ? 0 : k < j / 32 ? j - (32 * k + 31) : 32 * k - j;
                if (tiles <= 512 && tile[k] + gap * gap >= best) continue;
                for (int i = 32 * k; i < min(32 * k + 32, cols); ++i) {
                    long long away = j - i;
                    best = min(best, row[i] + away * away);
                }
            }
            least[(size_t)r * cols + j] = best;
        }
        __syncthreads();
    }
}
