// The best way through hidden states, in logarithms as whole numbers: where each state of each step is
// best come from (of equals from the first), and what the best way is worth.
__global__ void viterbi(const int* emit, const int* trans, int* back, int* score, int steps, int states) {
    extern __shared__ int room[];
    int *now = room, *next = room + states;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int* e = emit + (size_t)blockIdx.x * steps * states;
    int* b = back + (size_t)blockIdx.x * steps * states;
    for (int s = threadIdx.x; s < states; s += blockDim.x) {
        now[s] = e[s];
        b[s] = -1;
    }
    __syncthreads();
    for (int t = 1; t < steps; ++t) {
        for (int s = warp; s < states; s += warps) {
            int most = -2147483647 - 1, from = 2147483647;
            for (int p = lane; p < states; p += 32) {
                int v = now[p] + trans[(size_t)p * states + s];
                if (v > most || from == 2147483647) most = v, from = p;
            }
            for (int d = 16; d > 0; d /= 2) {
                int v = __shfl_xor_sync(0xffffffffu, most, d), p = __shfl_xor_sync(0xffffffffu, from, d);
                if (v > most || (v == most && p < from)) most = v, from = p;
            }
            if (lane == 0) {
                next[s] = most + e[(size_t)t * states + s];
                b[(size_t)t * states + s] = from;
            }
        }
        __syncthreads();
        int* swap = now;
        now = next;
        next = swap;
    }
    if (warp == 0) {
        int most = now[0];
        for (int s = lane; s < states; s += 32) most = max(most, now[s]);
        most = __reduce_max_sync(0xffffffffu, most);
        if (lane == 0) score[blockIdx.x] = most;
    }
}
