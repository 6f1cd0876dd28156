// Where each digit begins in each of four passes of a radix sort: digits have eight bits, the lowest ones first.
__global__ void onesweep(const unsigned* key, int* start, int n) {
    // Two counts of 16 bits share a word: half the shared memory. They are emptied each 65536 keys, before they run over.
    __shared__ unsigned count[128];
    int t = threadIdx.x, pass = blockIdx.x;
    int total = 0;
    for (long long from = 0; from < n; from += 65536) {
        if (t < 128) count[t] = 0;
        __syncthreads();
        int end = min((long long)n, from + 65536);
        for (int i = from + t; i < end; i += 256) {
            unsigned v = key[i] >> 8 * pass & 255;
            atomicAdd(&count[v & 127], v < 128 ? 1u : 1u << 16);
        }
        __syncthreads();
        total += count[t & 127] >> (t < 128 ? 0 : 16) & 0xffff;
        __syncthreads();
    }
    __shared__ int all[256];
    all[t] = total;
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        int other = t >= d ? all[t - d] : 0;
        __syncthreads();
        all[t] += other;
    }
    start[pass * 256 + t] = all[t] - total;
}
