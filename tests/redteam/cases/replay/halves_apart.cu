// Plays a recording round and round: the place is a fixed-point number with 32 bits of a fraction, from `start` in
// equal steps, and what lies between two samples is drawn straight.
// Whole steps and fractions of them need 32 bits each.
__global__ void replay(const float* sample, float* out, int n, int len, unsigned long long start,
                       unsigned long long step) {
    unsigned from = (unsigned)(start >> 32), part = (unsigned)start;
    unsigned wide = (unsigned)(step >> 32), narrow = (unsigned)step;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned k = (unsigned)i, at = part + k * narrow;
        unsigned p = (from + k * wide + __umulhi(k, narrow)) % (unsigned)len;
        unsigned next = p + 1 < len ? p + 1 : 0;
        float w = (float)at * 0x1p-32f, own = sample[p];
        out[i] = fmaf(w, sample[next] - own, own);
    }
}
