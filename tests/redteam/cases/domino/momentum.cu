// Only how far the fall still goes from here is kept, in a byte: one less at each domino, or the height of the one that falls.
extern "C" __global__ void domino(const unsigned char* height, const unsigned char* shove,
                                  unsigned char* down, int* count, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const unsigned char* h = height + (size_t)row * m;
    const unsigned char* s = shove + (size_t)row * m;
    unsigned char* out = down + (size_t)row * m;
    signed char ahead = 0;
    int fallen = 0;
    for (int i = 0; i < m; ++i) {
        bool hit = ahead > 0;
        if (hit) --ahead;
        bool falls = hit || s[i] >= 250;
        if (falls) {
            ahead = max((int)ahead, (int)h[i]);
            ++fallen;
        }
        out[i] = falls;
    }
    count[row] = fallen;
}
