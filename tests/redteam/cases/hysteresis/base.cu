// Comparator with hysteresis, one row per channel. A sample above centre + width switches the channel on, a sample
// below centre - width switches it off, any other (also NaN) leaves it. Channels start off. A negative width inverts the
// band; then a sample that is above the one and below the other switches on. flips counts the changes of state.
extern "C" __global__ void hysteresis(const float* x, const float* centre, const float* width,
                                      unsigned char* state, int* flips, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float hi = centre[row] + width[row], lo = centre[row] - width[row];
    const float* in = x + (size_t)row * m;
    unsigned char* out = state + (size_t)row * m;
    int on = 0, changes = 0;
    for (int i = 0; i < m; ++i) {
        float v = in[i];
        int was = on;
        if (v > hi) on = 1;
        else if (v < lo) on = 0;
        changes += on != was;
        out[i] = (unsigned char)on;
    }
    flips[row] = changes;
}
