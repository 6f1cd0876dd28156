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
        if (differ == 0) {
            int rest = d - f;
            if (rest & 4) {
#pragma unroll
                for (int k = 0; k < 4; ++k)
                    differ |= own[f + k] ^ other[f + k];
            }
            if (rest >= 2)
                differ |= (own[d - 1] ^ other[d - 1]) | (own[d - 2] ^ other[d - 2]);
            else if (rest == 1)
                differ |= own[d - 1] ^ other[d - 1];
            if ((rest & 3) == 3)
                differ |= own[d - 3] ^ other[d - 3];
        }
        bool same = differ == 0;
        if (same) {
            result = j;
            break;
        }
    }
    first[i] = result;
}
