// The best way through hidden states, in logarithms as whole numbers: where each state of each step is
// best come from (of equals from the first), and what the best way is worth.
__global__ void viterbi(const int* emit, const int* trans, int* back, int* score, int steps, int states) {
    extern __shared__ int room[];
    int *now = room, *next = room + states;
    const int* e = emit + (size_t)blockIdx.x * steps * states;
    int* b = back + (size_t)blockIdx.x * steps * states;
    for (int s = threadIdx.x; s < states; s += blockDim.x) {
        now[s] = e[s];
        b[s] = -1;
    }
    __syncthreads();
    for (int t = 1; t < steps; ++t) {
        for (int s = threadIdx.x; s < states; s += blockDim.x) {
            int most = now[0] + trans[s], from = 0;
            for (int p = 1; p < states; ++p) {
                int v = now[p] + trans[(size_t)p * states + s];
                if (v > most) most = v, from = p;
            }
            next[s] = most + e[(size_t)t * states + s];
            b[(size_t)t * states + s] = from;
        }
        __syncthreads();
        int* swap = now;
        now = next;
        next = swap;
    }
    if (threadIdx.x == 0) {
        int most = now[0];
        for (int s = 1; s < states; ++s) most = max(most, now[s]);
        score[blockIdx.x] = most;
    }
}
