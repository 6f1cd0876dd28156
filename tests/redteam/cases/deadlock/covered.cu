#include <cstdint>

// The banker's check for many systems at once. Each has n processes and four kinds of resources. A process whose
// need is covered by what is spare ends and gives back what it held. done: which processes can end; left: what is
// spare when no further one can.
constexpr int KINDS = 4;

__global__ void deadlock(const int* need, const int* held, const int* spare, uint8_t* done, int* left, int systems,
                         int n) {
    __shared__ int now[KINDS], gain[KINDS], most[KINDS];
    const int system = blockIdx.x;
    if (system >= systems) return;
    need += (size_t)system * n * KINDS;
    held += (size_t)system * n * KINDS;
    done += (size_t)system * n;
    if (threadIdx.x < KINDS) {
        now[threadIdx.x] = spare[system * KINDS + threadIdx.x];
        gain[threadIdx.x] = 0;
        most[threadIdx.x] = 0;
    }
    for (int p = threadIdx.x; p < n; p += blockDim.x) done[p] = 0;
    __syncthreads();
    for (int k = 0; k < KINDS; ++k) {
        int top = 0;
        for (int p = threadIdx.x; p < n; p += blockDim.x) top = max(top, need[p * KINDS + k]);
        if (top) atomicMax(&most[k], top);
    }
    __syncthreads();

    for (;;) {
        int any = 0;
        bool all = true, none = true;
        for (int k = 0; k < KINDS; ++k) all = all && most[k] <= now[k];
        for (int p = threadIdx.x; p < n; p += blockDim.x) {
            if (done[p]) continue;
            bool fits = true;
            for (int k = 0; k < KINDS && !all; ++k) fits = fits && need[p * KINDS + k] <= now[k];
            if (!fits) continue;
            done[p] = 1;
            for (int k = 0; k < KINDS; ++k) {
                const int back = held[p * KINDS + k];
                if (back) atomicAdd(&gain[k], back);
                none = none && back == 0;
            }
        }
        any = !none;
        const bool more = __syncthreads_or(any) && !all;
        if (all) {
            if (threadIdx.x < KINDS) now[threadIdx.x] += gain[threadIdx.x];
        }
        if (!more) break;
        if (threadIdx.x < KINDS) {
            now[threadIdx.x] += gain[threadIdx.x];
            gain[threadIdx.x] = 0;
        }
        __syncthreads();
    }
    if (threadIdx.x < KINDS) left[system * KINDS + threadIdx.x] = now[threadIdx.x];
}
