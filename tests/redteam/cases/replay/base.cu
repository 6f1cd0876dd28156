// Plays a recording round and round: the place is a fixed-point number with 32 bits of a fraction, from `start` in
// equal steps, and what lies between two samples is drawn straight.
__global__ void replay(const float* sample, float* out, int n, int len, unsigned long long start,
                       unsigned long long step) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long at = start + i * step;
    unsigned p = (unsigned)(at >> 32) % (unsigned)len;
    unsigned next = p + 1 < len ? p + 1 : 0;
    float w = (float)(unsigned)at * 0x1p-32f, own = sample[p];
    out[i] = fmaf(w, sample[next] - own, own);
}
