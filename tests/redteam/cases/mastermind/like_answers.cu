// Mastermind, four pegs of six colours: how each guess would part the codes that are left, by their answers (black:
// the right colour in the right place, white: the right colour elsewhere). The largest part, the number of parts
// that are not empty, and the sum of their squares.
#include <cuda_runtime.h>
#include <cstdint>

// The place of an answer: black * 5 + white.
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
    return black * 5 + both - black;
}

__global__ void part(const uint8_t* __restrict__ guesses, const uint8_t* __restrict__ codes, int* worst, int* kinds,
                     unsigned long long* squares, int m) {
    __shared__ int count[25];
    int g = blockIdx.x;
    if (threadIdx.x < 25) count[threadIdx.x] = 0;
    __syncthreads();
    for (int base = 0; base < m; base += blockDim.x) {
        int j = base + threadIdx.x;
        int k = j < m ? answer(guesses + 4 * (size_t)g, codes + 4 * (size_t)j) : 25;
        unsigned same = __match_any_sync(0xffffffffu, k);
        if (k < 25 && (int)(threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&count[k], __popc(same));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int most = 0, some = 0;
        unsigned long long sum = 0;
        for (int k = 0; k < 25; k++) {
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
