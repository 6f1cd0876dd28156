// The bytes of all channels added up after each has been moved by its delay, for many sets of delays;
// what lies outside of the record is not there. A word adds up two samples.
__global__ void dedisperse(const unsigned char* x, const int* delay, int* out, int sets, int chans, int nt) {
    int t = blockIdx.x * (blockDim.x * 2) + threadIdx.x, s = blockIdx.y, next = t + blockDim.x;
    if (t >= nt) return;
    unsigned both = 0u;
    for (int c = 0; c < chans; ++c) {
        int at = t + delay[(size_t)s * chans + c];
        const unsigned char* of = x + (size_t)c * nt;
        if (at >= 0 && at < nt) both += of[at];
        at += blockDim.x;
        if (next < nt && at >= 0 && at < nt) both += (unsigned)of[at] << 16;
    }
    out[(size_t)s * nt + t] = both & 0xffffu;
    if (next < nt) out[(size_t)s * nt + next] = both >> 16;
}
