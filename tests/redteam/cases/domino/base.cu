// Rows of m dominoes standing one unit apart, all falling to the right. A domino falls when its shove is at least 250, or when
// one that has fallen before it reaches it: domino j of height h reaches j+1 .. j+h. Which have fallen, and how many per row.
extern "C" __global__ void domino(const unsigned char* height, const unsigned char* shove,
                                  unsigned char* down, int* count, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const unsigned char* h = height + (size_t)row * m;
    const unsigned char* s = shove + (size_t)row * m;
    unsigned char* out = down + (size_t)row * m;
    int reach = -1, fallen = 0;
    for (int i = 0; i < m; ++i) {
        bool falls = s[i] >= 250 || i <= reach;
        if (falls) {
            reach = max(reach, i + (int)h[i]);
            ++fallen;
        }
        out[i] = falls;
    }
    count[row] = fallen;
}
