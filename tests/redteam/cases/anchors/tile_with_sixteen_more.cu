// What a letter of a sequence stands for in the hash of a word.
__device__ unsigned seed(unsigned char letter) {
    switch (letter & 3) {
        case 0: return 0x3c8bfbb3u;
        case 1: return 0x9ad1e05fu;
        case 2: return 0x51f36c9au;
        default: return 0xe70294d6u;
    }
}

__device__ unsigned turned(unsigned v, int by) { return __funnelshift_l(v, v, by); }

// The places of a sequence at which a word of k letters begins whose hash is small, in any order; and how many. The
// seeds of a block's letters, and of those behind them, are looked up once.
__global__ void anchors(const unsigned char* letter, int* place, int* count, int n, int k, unsigned limit) {
    __shared__ unsigned held[256 + 16];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, lane = t & 31;
    held[t] = i < n ? seed(letter[i]) : 0u;
    if (t < 16) held[256 + t] = i + 256 < n ? seed(letter[i + 256]) : 0u;
    __syncthreads();
    unsigned hash = 0;
    for (int j = 0; j < k; ++j) hash = turned(hash, 1) ^ held[t + j];
    bool small = i <= n - k && hash < limit;
    unsigned all = __ballot_sync(0xffffffffu, small);
    int first = 0;
    if (lane == 0 && all) first = atomicAdd(count, __popc(all));
    first = __shfl_sync(0xffffffffu, first, 0);
    if (small) place[first + __popc(all & ((1u << lane) - 1))] = i;
}
