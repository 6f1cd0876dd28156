#include <cstdint>

// The banker's check for many systems at once. Each has n processes and four kinds of resources. A process whose
// need is covered by what is spare ends and gives back what it held. done: which processes can end; left: what is
// spare when no further one can.
constexpr int KINDS = 4;

__global__ void deadlock(const int* need, const int* held, const int* spare, uint8_t* done, int* left, int systems,
                         int n) {
    __shared__ int now[KINDS], gain[KINDS];
    const int system = blockIdx.x;
    if (system >= systems) return;
    need += (size_t)system * n * KINDS;
    held += (size_t)system * n * KINDS;
    done += (size_t)system * n;
    if (threadIdx.x < KINDS) {
        now[threadIdx.x] = spare[system * KINDS + threadIdx.x];
        gain[threadIdx.x] = 0;
    }
    for (int p = threadIdx.x; p < n; p += blockDim.x) done[p] = 0;
    __syncthreads();

    for (;;) {
        int any = 0;
        unsigned have = 0;
        for (int k = 0; k < KINDS; ++k) have |= (unsigned)min(now[k], 127) << (8 * k);
        have |= 0x80808080u;
        for (int p = threadIdx.x; p < n; p += blockDim.x) {
            if (done[p]) continue;
            unsigned want = 0;
            for (int k = 0; k < KINDS; ++k) want |= (unsigned)need[p * KINDS + k] << (8 * k);
            if (((have - want) & 0x80808080u) != 0x80808080u) continue;
            done[p] = 1;
            any = 1;
            for (int k = 0; k < KINDS; ++k) atomicAdd(&gain[k], held[p * KINDS + k]);
        }
        if (!__syncthreads_or(any)) break;
        if (threadIdx.x < KINDS) {
            now[threadIdx.x] += gain[threadIdx.x];
            gain[threadIdx.x] = 0;
        }
        __syncthreads();
    }
    if (threadIdx.x < KINDS) left[system * KINDS + threadIdx.x] = now[threadIdx.x];
}
