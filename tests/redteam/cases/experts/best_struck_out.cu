#include <cuda_runtime.h>
#include <math.h>
#define THREADS 256

// The two experts that each token goes to, the first of equals, and its place in line at each of them, in the
// order of the tokens.
__global__ void choose(const float* score, int* expert, int* place, int tokens, int experts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens) return;
    // The best one twice; it is struck out between.
    float* own = (float*)score + (size_t)i * experts;
    int best = 0, next = -1;
    for (int e = 1; e < experts; ++e)
        if (own[e] > own[best]) best = e;
    own[best] = -INFINITY;
    for (int e = 0; e < experts; ++e)
        if (e != best && (next < 0 || own[e] > own[next])) next = e;
    expert[2 * (size_t)i] = best;
    expert[2 * (size_t)i + 1] = next;
    place[2 * (size_t)i] = place[2 * (size_t)i + 1] = -1;
}

__global__ void queue(const int* expert, int* place, int* count, int slots) {
    __shared__ int part[THREADS];
    int e = blockIdx.x, t = threadIdx.x, before = 0;
    for (int first = 0; first < slots; first += THREADS) {
        int i = first + t;
        int mine = i < slots && expert[i] == e;
        part[t] = mine;
        __syncthreads();
        for (int d = 1; d < THREADS; d *= 2) {
            int left = t >= d ? part[t - d] : 0;
            __syncthreads();
            part[t] += left;
            __syncthreads();
        }
        if (mine) place[i] = before + part[t] - 1;
        before += part[THREADS - 1];
        __syncthreads();
    }
    if (t == 0) count[e] = before;
}

extern "C" void route(const float* score, int* expert, int* place, int* count, int tokens, int experts) {
    choose<<<(tokens + 127) / 128, 128>>>(score, expert, place, tokens, experts);
    queue<<<experts, THREADS>>>(expert, place, count, 2 * tokens);
}
