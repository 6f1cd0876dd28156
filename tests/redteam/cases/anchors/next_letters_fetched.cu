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

// The places of a sequence at which a word of k letters begins whose hash is small, in any order; and how many. A
// grid that fits the device; the ends of the next word are on their way while this one is hashed.
__global__ void anchors(const unsigned char* letter, int* place, int* count, int n, int k, unsigned limit) {
    long long step = (long long)gridDim.x * blockDim.x, i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    unsigned char head = 0, tail = 0;
    if (i <= n - k) head = letter[i], tail = letter[i + k - 1];
    for (; __any_sync(0xffffffffu, i <= n - k); i += step) {
        unsigned char next_head = letter[i + step], next_tail = letter[i + step + k - 1];
        bool small = false;
        if (i <= n - k) {
            unsigned hash = seed(head);
            for (int j = 1; j + 1 < k; ++j) hash = turned(hash, 1) ^ seed(letter[i + j]);
            if (k > 1) hash = turned(hash, 1) ^ seed(tail);
            small = hash < limit;
        }
        head = next_head, tail = next_tail;
        unsigned all = __ballot_sync(0xffffffffu, small);
        int first = 0;
        if (lane == 0 && all) first = atomicAdd(count, __popc(all));
        first = __shfl_sync(0xffffffffu, first, 0);
        if (small) place[first + __popc(all & ((1u << lane) - 1))] = (int)i;
    }
}
