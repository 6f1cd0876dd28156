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
            // What it is worth above where it is from, the first place the largest: one maximum for both.
            int k0 = -2147483647 - 1, k1 = k0, k2 = k0, k3 = k0;
            const int* w = trans + s;
            int p = 0;
            for (; p + 3 < states; p += 4, w += 4 * (size_t)states) {
                k0 = max(k0, ((now[p] + w[0]) * 256 + (255 - (p))));
                k1 = max(k1, ((now[p + 1] + w[states]) * 256 + (255 - (p + 1))));
                k2 = max(k2, ((now[p + 2] + w[2 * (size_t)states]) * 256 + (255 - (p + 2))));
                k3 = max(k3, ((now[p + 3] + w[3 * (size_t)states]) * 256 + (255 - (p + 3))));
            }
            for (; p < states; ++p, w += states) k0 = max(k0, ((now[p] + w[0]) * 256 + (255 - (p))));
            k0 = max(max(k0, k1), max(k2, k3));
            next[s] = (int)(k0 >> 8) + e[(size_t)t * states + s];
            b[(size_t)t * states + s] = 255 - (k0 & 255);
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
