// How often does each row change its sign, and where last? Zeros and what is no number have no sign and are passed over.
__global__ void vibrato(const float* x, int* changes, int* last, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float* values = x + (size_t)row * n;
    float before = 0.0f;
    int count = 0, place = -1;
    for (int i = 0; i < n; ++i) {
        float v = values[i];
        if (v != 0.0f && v == v) {
            bool other = (__float_as_int(v) ^ __float_as_int(before)) < 0;
            if (other && before != 0.0f) {
                ++count;
                place = i;
            }
            before = v;
        }
    }
    changes[row] = count;
    last[row] = place;
}
