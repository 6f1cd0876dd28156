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
    __shared__ int part[2][THREADS / 32];
    int e = blockIdx.x, t = threadIdx.x, lane = t % 32, warp = t / 32, before = 0, turn = 0;
    for (int first = 0; first < slots; first += THREADS, turn ^= 1) {
        int i = first + t;
        bool mine = i < slots && expert[i] == e;
        unsigned others = __ballot_sync(0xffffffffu, mine);
        if (lane == 0) part[turn][warp] = __popc(others);
        __syncthreads();
        int ahead = before + __popc(others & ((1u << lane) - 1u));
        for (int k = 0; k < THREADS / 32; ++k) {
            int these = part[turn][k];
            if (k < warp) ahead += these;
            before += these;
        }
        if (mine) place[i] = ahead;
    }
    if (t == 0) count[e] = before;
}

extern "C" void route(const float* score, int* expert, int* place, int* count, int tokens, int experts) {
    choose<<<(tokens + 127) / 128, 128>>>(score, expert, place, tokens, experts);
    queue<<<experts, THREADS>>>(expert, place, count, 2 * tokens);
}
