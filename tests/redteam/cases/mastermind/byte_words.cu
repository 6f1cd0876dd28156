// Mastermind, four pegs of six colours: how each guess would part the codes that are left, by their answers (black:
// the right colour in the right place, white: the right colour elsewhere). The largest part, the number of parts
// that are not empty, and the sum of their squares.
#include <cuda_runtime.h>
#include <cstdint>

// The place of an answer: black * 5 + white. Numbers of pegs by colour, a byte each.
__device__ uint2 colours(const uint8_t* pegs) {
    uint2 many = make_uint2(0u, 0u);
    for (int p = 0; p < 4; p++) {
        int c = pegs[p];
        if (c < 4) many.x += 1u << 8 * c;
        else many.y += 1u << 8 * (c - 4);
    }
    return many;
}

__device__ int answer(const uint8_t* guess, const uint8_t* code) {
    unsigned a = *(const unsigned*)guess, b = *(const unsigned*)code;
    int black = __popc(__vcmpeq4(a, b)) >> 3;
    uint2 s = colours(guess), t = colours(code);
    int both = __dp4a(__vminu4(s.x, t.x), 0x01010101u, __dp4a(__vminu4(s.y, t.y), 0x01010101u, 0u));
    return black * 5 + both - black;
}

__global__ void part(const uint8_t* __restrict__ guesses, const uint8_t* __restrict__ codes, int* worst, int* kinds,
                     unsigned long long* squares, int m) {
    __shared__ int count[25];
    int g = blockIdx.x;
    if (threadIdx.x < 25) count[threadIdx.x] = 0;
    __syncthreads();
    for (int j = threadIdx.x; j < m; j += blockDim.x)
        atomicAdd(&count[answer(guesses + 4 * (size_t)g, codes + 4 * (size_t)j)], 1);
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
