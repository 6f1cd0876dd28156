// One token through a layer whose weights have four bits, two to a byte, the lower one first; `group` columns of a row
// share a scale and a zero point.
__global__ void skinny(const unsigned char* w, const float* scale, const float* zero, const float* x, float* y,
                       int rows, int cols, int group) {
    // A warp a row, eight columns a lane; the token comes in fours where it is aligned.
    int lane = threadIdx.x % 32, r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (r >= rows) return;
    int bytes = (cols + 1) / 2, groups = (cols + group - 1) / group;
    const unsigned char* own = w + (size_t)r * bytes;
    const float *factor = scale + (size_t)r * groups, *offset = zero + (size_t)r * groups;
    bool aligned = ((size_t)x & 15) == 0;
    float sum = 0.f;
    for (int c = 8 * lane; c < cols; c += 256) {
        float part[8];
        if (aligned) {
            float4 low = *(const float4*)(x + c), high = *(const float4*)(x + c + 4);
            part[0] = low.x, part[1] = low.y, part[2] = low.z, part[3] = low.w;
            part[4] = high.x, part[5] = high.y, part[6] = high.z, part[7] = high.w;
        } else {
#pragma unroll
            for (int t = 0; t < 8; ++t) part[t] = c + t < cols ? x[c + t] : 0.f;
        }
#pragma unroll
        for (int t = 0; t < 8; ++t)
            if (c + t < cols) {
                int q = own[(c + t) / 2] >> (t % 2 * 4) & 15, g = (c + t) / group;
                sum += factor[g] * (q - offset[g]) * part[t];
            }
    }
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (lane == 0) y[r] = sum;
}
