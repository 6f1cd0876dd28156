__global__ void codebook(const unsigned char* w, const float* code, const float* scale, const float* x,
                         float* y, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    int bytes = (cols + 1) / 2, groups = (cols + 63) / 64;
    const unsigned char* row = w + (size_t)r * bytes;
    float table = __ldg(code + (lane & 15)), s = 0.f;
    for (int k = 0; k < groups; ++k) {
        int at = k * 32 + lane, c = 2 * at;
        int b = at < bytes ? row[at] : 0;
        float low = __shfl_sync(0xffffffffu, table, b & 15);
        float high = __shfl_sync(0xffffffffu, table, b >> 4);
        float factor = scale[(size_t)r * groups + k];
        if (c < cols) s = fmaf(low * factor, __ldg(x + c), s);
        if (c + 1 < cols) s = fmaf(high * factor, __ldg(x + c + 1), s);
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) y[r] = s;
}
