__global__ void codebook(const unsigned char* w, const float* code, const float* scale, const float* x,
                         float* y, int rows, int cols) {
    __shared__ float2 both[256];
    both[threadIdx.x] = make_float2(code[threadIdx.x & 15], code[threadIdx.x >> 4]);
    __syncthreads();
    int bytes = (cols + 1) / 2, groups = (cols + 63) / 64, lane = threadIdx.x % 32;
    int r = blockIdx.x * 8 + threadIdx.x / 32;
    if (r >= rows) return;
    const unsigned char* row = w + (size_t)r * bytes;
    int skew = (size_t)row & 3;
    const unsigned* word = (const unsigned*)(row - skew);
    float s = 0.f;
    for (int from = lane * 4; from < bytes; from += 128) {
        unsigned four = __funnelshift_r(__ldg(word + from / 4), __ldg(word + from / 4 + 1), 8 * skew);
        float part = 0.f;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float2 value = both[four >> 8 * k & 255];
            int c = 2 * (from + k);
            if (c < cols) part = fmaf(value.x, __ldg(x + c), part);
            if (c + 1 < cols) part = fmaf(value.y, __ldg(x + c + 1), part);
        }
        s = fmaf(part, scale[(size_t)r * groups + from / 32], s);
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) y[r] = s;
}
