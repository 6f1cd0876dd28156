#include <cstdint>

// The banker's check for many systems at once. Each has n processes and four kinds of resources. A process whose
// need is covered by what is spare ends and gives back what it held. done: which processes can end; left: what is
// spare when no further one can.
constexpr int KINDS = 4;

__global__ void deadlock(const int* need, const int* held, const int* spare, uint8_t* done, int* left, int systems,
                         int n) {
    __shared__ int gain[2][KINDS];
    const int system = blockIdx.x;
    if (system >= systems) return;
    need += (size_t)system * n * KINDS;
    held += (size_t)system * n * KINDS;
    done += (size_t)system * n;
    if (threadIdx.x < KINDS) {
        gain[0][threadIdx.x] = 0;
        gain[1][threadIdx.x] = 0;
    }
    for (int p = threadIdx.x; p < n; p += blockDim.x) done[p] = 0;
    __syncthreads();

    int mine[KINDS];
    for (int k = 0; k < KINDS; ++k) mine[k] = spare[system * KINDS + k];
    for (int turn = 0;; turn = 1 - turn) {
        int any = 0;
        for (int p = threadIdx.x; p < n; p += blockDim.x) {
            if (done[p]) continue;
            bool fits = true;
            for (int k = 0; k < KINDS; ++k) fits = fits && need[p * KINDS + k] <= mine[k];
            if (!fits) continue;
            done[p] = 1;
            any = 1;
            for (int k = 0; k < KINDS; ++k) atomicAdd(&gain[turn][k], held[p * KINDS + k]);
        }
        if (!__syncthreads_or(any)) break;
        for (int k = 0; k < KINDS; ++k) mine[k] += gain[turn][k];
        if (threadIdx.x < KINDS) gain[1 - turn][threadIdx.x] = 0;
    }
    if (threadIdx.x == 0) {
        for (int k = 0; k < KINDS; ++k) left[system * KINDS + k] = mine[k];
    }
}
