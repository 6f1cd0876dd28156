// Still a thread per row, but the 64 rows of a block come through shared memory, 64 columns at a time, so that global reads
// are along the rows. Heights are marked with the top bit where the shove is strong enough.
extern "C" __global__ void domino(const unsigned char* height, const unsigned char* shove,
                                  unsigned char* down, int* count, int n, int m)
{
    __shared__ unsigned char tile[64][68];
    int t = threadIdx.x;
    int first = blockIdx.x * 64, row = first + t;
    int rows = min(64, n - first);
    int reach = -1, fallen = 0;
    for (int base = 0; base < m; base += 64) {
        int i = base + t;
        for (int r = 0; r < rows; ++r) {
            size_t at = (size_t)(first + r) * m + i;
            if (i < m) tile[r][t] = (unsigned char)(height[at] | (shove[at] >= 250 ? 128 : 0));
        }
        __syncthreads();
        if (t < rows) {
            int columns = min(64, m - base);
            unsigned char* out = down + (size_t)row * m + base;
            for (int c = 0; c < columns; ++c) {
                int v = tile[t][c];
                bool falls = (v & 128) || base + c <= reach;
                if (falls) {
                    reach = max(reach, base + c + (v & 127));
                    ++fallen;
                }
                out[c] = falls;
            }
        }
    }
    if (t < rows) count[row] = fallen;
}
