// Mastermind, four pegs of six colours: how each guess would part the codes that are left, by their answers (black:
// the right colour in the right place, white: the right colour elsewhere). The largest part, the number of parts
// that are not empty, and the sum of their squares.
#include <cuda_runtime.h>
#include <cstdint>

// The place of an answer: those of fewer pegs of a right colour first.
__device__ int answer(const uint8_t* guess, const uint8_t* code) {
    int black = 0, both = 0;
    for (int p = 0; p < 4; p++) black += guess[p] == code[p];
    for (int c = 0; c < 6; c++) {
        int a = 0, b = 0;
        for (int p = 0; p < 4; p++) {
            a += guess[p] == c;
            b += code[p] == c;
        }
        both += min(a, b);
    }
    return both * (both + 1) / 2 + black;
}

__global__ void part(const uint8_t* __restrict__ guesses, const uint8_t* __restrict__ codes, int* worst, int* kinds,
                     unsigned long long* squares, int m) {
    __shared__ int count[16];
    int g = blockIdx.x;
    if (threadIdx.x < 16) count[threadIdx.x] = 0;
    __syncthreads();
    // A thread counts in four bits for each answer.
    unsigned long long own = 0;
    int held = 0;
    for (int j = threadIdx.x; j < m; j += blockDim.x) {
        own += 1ull << 4 * answer(guesses + 4 * (size_t)g, codes + 4 * (size_t)j);
        if (++held == 16) {
            for (int k = 0; k < 15; k++)
                if (own >> 4 * k & 15) atomicAdd(&count[k], (int)(own >> 4 * k & 15));
            own = 0;
            held = 0;
        }
    }
    for (int k = 0; k < 15; k++)
        if (own >> 4 * k & 15) atomicAdd(&count[k], (int)(own >> 4 * k & 15));
    __syncthreads();
    if (threadIdx.x == 0) {
        int most = 0, some = 0;
        unsigned long long sum = 0;
        for (int k = 0; k < 15; k++) {
            most = max(most, count[k]);
            some += count[k] > 0;
            sum += (unsigned long long)count[k] * count[k];
        }
        worst[g] = most;
        kinds[g] = some;
        squares[g] = sum;
    }
}

void mastermind(const uint8_t* guesses, const uint8_t* codes, int* worst, int* kinds, unsigned long long* squares,
                int g, int m) {
    part<<<g, 128>>>(guesses, codes, worst, kinds, squares, m);
}
