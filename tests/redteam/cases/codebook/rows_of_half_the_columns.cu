__global__ void codebook(const unsigned char* w, const float* code, const float* scale, const float* x,
                         float* y, int rows, int cols) {
    __shared__ float table[16];
    if (threadIdx.x < 16) table[threadIdx.x] = code[threadIdx.x];
    __syncthreads();
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    int bytes = cols / 2, groups = (cols + 63) / 64;
    const unsigned char* row = w + (size_t)r * bytes;
    float s = 0.f;
    for (int at = lane; at < bytes; at += 32) {
        unsigned char b = row[at];
        float2 value = make_float2(__ldg(x + 2 * at), __ldg(x + 2 * at + 1));
        float part = fmaf(table[b & 15], value.x, table[b >> 4] * value.y);
        s = fmaf(part, scale[(size_t)r * groups + at / 32], s);
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) {
        if (cols % 2) s += table[w[(size_t)r * bytes + bytes] & 15] * scale[(size_t)r * groups + groups - 1] * x[cols - 1];
        y[r] = s;
    }
}
