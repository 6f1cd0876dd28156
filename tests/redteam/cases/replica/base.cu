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
        bool same = true;
        for (int f = 0; f < d && same; ++f)
            same = own[f] == other[f];
        if (same) {
            result = j;
            break;
        }
    }
    first[i] = result;
}
