// What a traveller expects of the ways that are open to him: the logarithm of the sum of their exponentials, -inf
// where none is open.
__global__ void commute(const float* worth, const unsigned char* open, float* expect, int rows, int cols) {
    size_t r = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* u = worth + r * cols;
    const unsigned char* may = open + r * cols;
    float most = -INFINITY, sum = 0.f;
    for (int c = 0; c < cols; ++c)
        if (may[c]) most = fmaxf(most, u[c]);
    if (most == -INFINITY) {
        expect[r] = -INFINITY;
        return;
    }
    for (int c = 0; c < cols; ++c)
        if (may[c]) sum += expf(u[c] - most);
    expect[r] = most + logf(sum);
}
