// A warp per row first finds the last shove; lane 0 then walks, and stops where neither a shove nor a falling domino is to come.
extern "C" __global__ void domino(const unsigned char* height, const unsigned char* shove,
                                  unsigned char* down, int* count, int n, int m)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const unsigned char* h = height + (size_t)row * m;
    const unsigned char* s = shove + (size_t)row * m;
    unsigned char* out = down + (size_t)row * m;
    int last = -1;
    for (int i = lane; i < m; i += 32)
        if (s[i] >= 250) last = i;
    last = __reduce_max_sync(0xffffffffu, last);
    if (lane != 0) return;
    int reach = -1, fallen = 0;
    for (int i = 0; i < m && i <= max(last, reach); ++i) {
        bool falls = s[i] >= 250 || i <= reach;
        if (falls) {
            reach = max(reach, i + (int)h[i]);
            ++fallen;
        }
        out[i] = falls;
    }
    count[row] = fallen;
}
