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
    // How often each of the 1296 codes is there; then one answer for each.
    __shared__ int times[1296];
    for (int v = threadIdx.x; v < 1296; v += blockDim.x) times[v] = 0;
    __syncthreads();
    for (int j = threadIdx.x; j < m; j += blockDim.x) {
        const uint8_t* c = codes + 4 * (size_t)j;
        atomicAdd(&times[((c[0] * 6 + c[1]) * 6 + c[2]) * 6 + c[3]], 1);
    }
    __syncthreads();
    for (int v = threadIdx.x; v < 1296; v += blockDim.x) {
        uint8_t code[4] = {(uint8_t)(v / 216), (uint8_t)(v / 36 % 6), (uint8_t)(v / 6 % 6), (uint8_t)(v % 6)};
        if (times[v]) atomicAdd(&count[answer(guesses + 4 * (size_t)g, code)], times[v]);
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
