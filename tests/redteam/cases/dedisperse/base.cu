// The bytes of all channels added up after each has been moved by its delay, for many sets of delays;
// what lies outside of the record is not there.
__global__ void dedisperse(const unsigned char* x, const int* delay, int* out, int sets, int chans, int nt) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, s = blockIdx.y;
    if (t >= nt) return;
    int sum = 0;
    for (int c = 0; c < chans; ++c) {
        int at = t + delay[(size_t)s * chans + c];
        if (at >= 0 && at < nt) sum += x[(size_t)c * nt + at];
    }
    out[(size_t)s * nt + t] = sum;
}
