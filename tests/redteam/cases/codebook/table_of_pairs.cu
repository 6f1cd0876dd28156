__global__ void codebook(const unsigned char* w, const float* code, const float* scale, const float* x,
                         float* y, int rows, int cols) {
    __shared__ float2 both[256];
    both[threadIdx.x] = make_float2(code[threadIdx.x & 15], code[threadIdx.x >> 4]);
    __syncthreads();
    int bytes = (cols + 1) / 2, groups = (cols + 63) / 64, lane = threadIdx.x % 32;
    bool words = bytes % 4 == 0 && ((size_t)w & 3) == 0;
    for (int r = blockIdx.x * 8 + threadIdx.x / 32; r < rows; r += gridDim.x * 8) {
        const unsigned char* row = w + (size_t)r * bytes;
        float s = 0.f;
        for (int from = lane * 4; from < bytes; from += 128) {
            unsigned four = 0;
            if (words)
                four = __ldg((const unsigned*)(row + from));
            else
                for (int k = 0; k < 4 && from + k < bytes; ++k) four |= (unsigned)row[from + k] << 8 * k;
            float factor = scale[(size_t)r * groups + from / 32];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                float2 value = both[four >> 8 * k & 255];
                int c = 2 * (from + k);
                if (c < cols) s = fmaf(value.x * factor, __ldg(x + c), s);
                if (c + 1 < cols) s = fmaf(value.y * factor, __ldg(x + c + 1), s);
            }
        }
        for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
        if (lane == 0) y[r] = s;
    }
}
