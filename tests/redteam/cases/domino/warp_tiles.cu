// Still a thread per row, but the 32 rows of a warp come through its own part of shared memory, 32 columns at a time, so that
// global accesses are along the rows. Heights are marked with the top bit where the shove is strong enough.
extern "C" __global__ void domino(const unsigned char* height, const unsigned char* shove,
                                  unsigned char* down, int* count, int n, int m)
{
    __shared__ unsigned char tiles[8][32][36];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned char (*tile)[36] = tiles[warp];
    int first = blockIdx.x * blockDim.x + warp * 32;
    int rows = min(32, n - first);
    if (rows <= 0) return;
    int reach = -1, fallen = 0;
    for (int base = 0; base < m; base += 32) {
        int i = base + lane;
        for (int r = 0; r < rows; ++r) {
            size_t at = (size_t)(first + r) * m + i;
            if (i < m) tile[r][lane] = (unsigned char)(height[at] | (shove[at] >= 250 ? 128 : 0));
        }
        __syncwarp();
        if (lane < rows) {
            int columns = min(32, m - base);
            for (int c = 0; c < columns; ++c) {
                int v = tile[lane][c];
                bool falls = (v & 128) || base + c <= reach;
                if (falls) {
                    reach = max(reach, base + c + (v & 127));
                    ++fallen;
                }
                tile[lane][c] = falls;
            }
        }
        __syncwarp();
        for (int r = 0; r < rows; ++r)
            if (i < m) down[(size_t)(first + r) * m + i] = tile[r][lane];
        __syncwarp();
    }
    if (lane < rows) count[first + lane] = fallen;
}
