// The bytes of all channels added up after each has been moved by its delay, for many sets of delays;
// what lies outside of the record is not there. A word adds up two samples, and is emptied before it is full.
__global__ void dedisperse(const unsigned char* x, const int* delay, int* out, int sets, int chans, int nt) {
    int t = blockIdx.x * (blockDim.x * 2) + threadIdx.x, s = blockIdx.y, next = t + blockDim.x;
    if (t >= nt) return;
    int low = 0, high = 0;
    unsigned both = 0u;
    for (int c = 0; c < chans; ++c) {
        int at = t + delay[(size_t)s * chans + c];
        const unsigned char* of = x + (size_t)c * nt;
        if (at >= 0 && at < nt) both += of[at];
        at += blockDim.x;
        if (next < nt && at >= 0 && at < nt) both += (unsigned)of[at] << 16;
        if (c % 256 == 255) {
            low += both & 0xffffu, high += both >> 16;
            both = 0u;
        }
    }
    out[(size_t)s * nt + t] = low + (both & 0xffffu);
    if (next < nt) out[(size_t)s * nt + next] = high + (both >> 16);
}
