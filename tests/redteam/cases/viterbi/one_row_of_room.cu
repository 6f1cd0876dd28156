// The best way through hidden states, in logarithms as whole numbers: where each state of each step is
// best come from (of equals from the first), and what the best way is worth.
__global__ void viterbi(const int* emit, const int* trans, int* back, int* score, int steps, int states) {
    extern __shared__ int now[];
    const int* e = emit + (size_t)blockIdx.x * steps * states;
    int* b = back + (size_t)blockIdx.x * steps * states;
    int s = threadIdx.x;
    for (int k = s; k < states; k += blockDim.x) {
        now[k] = e[k];
        b[k] = -1;
    }
    __syncthreads();
    if (states <= blockDim.x) {
        // A thread keeps its state, and its weights come one step ahead.
        for (int t = 1; t < steps; ++t) {
            int most = 0, from = 0, own = 0;
            if (s < states) {
                own = e[(size_t)t * states + s];
                most = now[0] + trans[s];
                for (int p = 1; p < states; ++p) {
                    int v = now[p] + trans[(size_t)p * states + s];
                    if (v > most) most = v, from = p;
                }
                now[s] = most + own;
                b[(size_t)t * states + s] = from;
            }
            __syncthreads();
        }
    } else {
        int* rows[2] = {now, now + states};
        for (int t = 1; t < steps; ++t) {
            for (int k = s; k < states; k += blockDim.x) {
                int most = rows[0][0] + trans[k], from = 0;
                for (int p = 1; p < states; ++p) {
                    int v = rows[0][p] + trans[(size_t)p * states + k];
                    if (v > most) most = v, from = p;
                }
                rows[1][k] = most + e[(size_t)t * states + k];
                b[(size_t)t * states + k] = from;
            }
            __syncthreads();
            int* swap = rows[0];
            rows[0] = rows[1];
            rows[1] = swap;
        }
        now[0] = rows[0][0];
        if (s == 0)
            for (int k = 1; k < states; ++k) now[0] = max(now[0], rows[0][k]);
        if (s == 0) score[blockIdx.x] = now[0];
        return;
    }
    if (s == 0) {
        int most = now[0];
        for (int k = 1; k < states; ++k) most = max(most, now[k]);
        score[blockIdx.x] = most;
    }
}
