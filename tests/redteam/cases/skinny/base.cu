// One token through a layer whose weights have four bits, two to a byte, the lower one first; `group` columns of a row
// share a scale and a zero point.
__global__ void skinny(const unsigned char* w, const float* scale, const float* zero, const float* x, float* y,
                       int rows, int cols, int group) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int bytes = (cols + 1) / 2, groups = (cols + group - 1) / group;
    const unsigned char* own = w + (size_t)r * bytes;
    float sum = 0.f;
    for (int c = 0; c < cols; ++c) {
        int q = own[c / 2] >> (c % 2 * 4) & 15;
        size_t g = (size_t)r * groups + c / group;
        sum += scale[g] * (q - zero[g]) * x[c];
    }
    y[r] = sum;
}
