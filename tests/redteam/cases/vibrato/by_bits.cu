// How often does each row change its sign, and where last? Zeros and what is no number have no sign and are passed over.
__global__ void vibrato(const float* x, int* changes, int* last, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float* values = x + (size_t)row * n;
    int sign = 0, count = 0, place = -1;
    for (int i = 0; i < n; ++i) {
        int bits = __float_as_int(values[i]);
        int s = (bits > 0 && bits <= 0x7f800000) - ((unsigned)bits > 0x80000000u);
        if (s != 0) {
            if (sign != 0 && s != sign) {
                ++count;
                place = i;
            }
            sign = s;
        }
    }
    changes[row] = count;
    last[row] = place;
}
