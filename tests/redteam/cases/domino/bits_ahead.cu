// A register of bits for the dominoes ahead that will be hit: shifted by one per domino, filled by the height of each that falls.
typedef unsigned long long Ahead;
__device__ __forceinline__ Ahead shadow(int h)
{
    return h >= (int)(8 * sizeof(Ahead)) ? ~(Ahead)0 : ((Ahead)1 << h) - 1;
}
extern "C" __global__ void domino(const unsigned char* height, const unsigned char* shove,
                                  unsigned char* down, int* count, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const unsigned char* h = height + (size_t)row * m;
    const unsigned char* s = shove + (size_t)row * m;
    unsigned char* out = down + (size_t)row * m;
    Ahead ahead = 0;
    int fallen = 0;
    for (int i = 0; i < m; ++i) {
        bool falls = (ahead & 1) || s[i] >= 250;
        ahead >>= 1;
        if (falls) {
            ahead |= shadow(h[i]);
            ++fallen;
        }
        out[i] = falls;
    }
    count[row] = fallen;
}
