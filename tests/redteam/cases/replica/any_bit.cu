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
        int differ = 0;
        for (int f = 0; f < d; ++f)
            differ |= own[f] ^ other[f];
        bool same = differ == 0;
        if (same) {
            result = j;
            break;
        }
    }
    first[i] = result;
}
