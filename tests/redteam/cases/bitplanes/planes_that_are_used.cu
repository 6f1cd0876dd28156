// The eight planes of bits of n bytes: a warp votes on 32 of them.
__global__ void bitplanes(const unsigned char* x, unsigned* out, int n) {
    int words = (n + 31) / 32, lane = threadIdx.x % 32;
    for (int j = (blockIdx.x * blockDim.x + threadIdx.x) / 32; j < words; j += gridDim.x * blockDim.x / 32) {
        size_t i = (size_t)j * 32 + lane;
        unsigned v = i < n ? x[i] : 0u;
        // Planes above the highest bit of these bytes hold nothing.
        int used = 32 - __clz(__reduce_or_sync(0xffffffffu, v));
        for (int p = 0; p < used; ++p) {
            unsigned plane = __ballot_sync(0xffffffffu, v >> p & 1);
            if (lane == p) out[(size_t)p * words + j] = plane;
        }
    }
}
