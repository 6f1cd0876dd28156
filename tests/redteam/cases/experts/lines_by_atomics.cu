#include <cuda_runtime.h>
#include <math.h>
#define THREADS 256

// The two experts that each token goes to, the first of equals, and its place in line at each of them, in the
// order of the tokens.
__global__ void choose(const float* score, int* expert, int* place, int tokens, int experts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens) return;
    const float* own = score + (size_t)i * experts;
    int best = 0, next = -1;
    float most = own[0], second = 0.f;
    for (int e = 1; e < experts; ++e) {
        float v = own[e];
        if (v > most)
            next = best, second = most, best = e, most = v;
        else if (next < 0 || v > second)
            next = e, second = v;
    }
    expert[2 * (size_t)i] = best;
    expert[2 * (size_t)i + 1] = next;
    place[2 * (size_t)i] = place[2 * (size_t)i + 1] = -1;
}

__global__ void queue(const int* expert, int* place, int* count, int slots) {
    __shared__ int length;
    int e = blockIdx.x, t = threadIdx.x, lane = t % 32;
    if (t == 0) length = 0;
    __syncthreads();
    for (int first = 0; first < slots; first += THREADS) {
        int i = first + t;
        bool mine = i < slots && expert[i] == e;
        // One addition a warp; no barrier is needed any more.
        unsigned others = __ballot_sync(0xffffffffu, mine);
        int begin = 0;
        if (lane == 0 && others) begin = atomicAdd(&length, __popc(others));
        begin = __shfl_sync(0xffffffffu, begin, 0);
        if (mine) place[i] = begin + __popc(others & ((1u << lane) - 1u));
    }
    __syncthreads();
    if (t == 0) count[e] = length;
}

extern "C" void route(const float* score, int* expert, int* place, int* count, int tokens, int experts) {
    choose<<<(tokens + 127) / 128, 128>>>(score, expert, place, tokens, experts);
    queue<<<experts, THREADS>>>(expert, place, count, 2 * tokens);
}
