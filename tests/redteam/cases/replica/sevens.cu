// Records of `d` fields stand in groups of `g`: which is the first of its group with the very same fields as this one?
__global__ void replica(const int* fields, int* first, int n, int d, int g)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int* own = fields + (size_t)i * d;
    int result = i;
    for (int j = i / g * g; j < i; ++j) {
        const int* other = fields + (size_t)j * d;
        int differ = 0, f = 0;
        for (; f + 8 <= d && differ == 0; f += 8) {
#pragma unroll
            for (int k = 0; k < 8; ++k)
                differ |= own[f + k] ^ other[f + k];
        }
        if (f < d && d < 8) {
            for (int k = 0; k < d; ++k)
                differ |= own[k] ^ other[k];
        } else if (f < d && differ == 0) {
            const int* mine = own + d - 4;
            const int* others = other + d - 4;
            differ = (mine[0] ^ others[0]) | (mine[1] ^ others[1]) | (mine[2] ^ others[2]) | (mine[3] ^ others[3]);
            if (d - f > 4)
                differ |= (own[f] ^ other[f]) | (own[f + 1] ^ other[f + 1]);
        }
        bool same = differ == 0;
        if (same) {
            result = j;
            break;
        }
    }
    first[i] = result;
}
