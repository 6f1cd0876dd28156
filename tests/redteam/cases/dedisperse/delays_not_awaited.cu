// The bytes of all channels added up after each has been moved by its delay, for many sets of delays;
// what lies outside of the record is not there. The delays of 64 channels lie in shared memory.
__global__ void dedisperse(const unsigned char* x, const int* delay, int* out, int sets, int chans, int nt) {
    __shared__ int move[64];
    int t = blockIdx.x * blockDim.x + threadIdx.x, s = blockIdx.y, sum = 0;
    for (int c0 = 0; c0 < chans; c0 += 64) {
        int many = min(64, chans - c0);
        if (threadIdx.x < many) move[threadIdx.x] = delay[(size_t)s * chans + c0 + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int c = 0; c < many; ++c) {
            int at = t + move[c];
            if (t < nt && at >= 0 && at < nt) sum += x[(size_t)(c0 + c) * nt + at];
        }
    }
    if (t < nt) out[(size_t)s * nt + t] = sum;
}
