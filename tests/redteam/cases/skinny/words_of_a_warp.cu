// One token through a layer whose weights have four bits, two to a byte, the lower one first; `group` columns of a row
// share a scale and a zero point.
__global__ void skinny(const unsigned char* w, const float* scale, const float* zero, const float* x, float* y,
                       int rows, int cols, int group) {
    // A warp a row, eight columns a word where rows are whole words.
    int lane = threadIdx.x % 32, r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (r >= rows) return;
    int bytes = (cols + 1) / 2, groups = (cols + group - 1) / group;
    const unsigned char* own = w + (size_t)r * bytes;
    const float *factor = scale + (size_t)r * groups, *offset = zero + (size_t)r * groups;
    float sum = 0.f;
    if (bytes % 4 == 0 && ((size_t)w & 3) == 0) {
        const unsigned* words = (const unsigned*)own;
        for (int k = lane; k < bytes / 4; k += 32) {
            unsigned v = words[k];
            int c = 8 * k, g = c / group, left = group - c % group;
            float s = factor[g], z = offset[g];
#pragma unroll
            for (int t = 0; t < 8; ++t) {
                if (c + t >= cols) break;
                if (left == 0) {
                    ++g;
                    left = group;
                    s = factor[g];
                    z = offset[g];
                }
                --left;
                sum += s * ((int)(v >> 4 * t & 15) - z) * x[c + t];
            }
        }
    } else {
        for (int b = lane; b < bytes; b += 32) {
            int v = own[b];
            for (int t = 0; t < 2 && 2 * b + t < cols; ++t) {
                int g = (2 * b + t) / group;
                sum += factor[g] * ((v >> 4 * t & 15) - offset[g]) * x[2 * b + t];
            }
        }
    }
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (lane == 0) y[r] = sum;
}
