#define BLOCKS 264

__device__ unsigned next_one, finished;

// Warps that are done take the next 32. The last block to leave puts both counters back.
__global__ void __launch_bounds__(256) hailstone(const unsigned* __restrict__ value,
                                                 int* __restrict__ steps, int n, int limit) {
    int lane = threadIdx.x % 32;
    for (;;) {
        unsigned first = 0;
        if (lane == 0) first = atomicAdd(&next_one, 32u);
        first = __shfl_sync(0xffffffffu, first, 0);
        if (first >= (unsigned)n) break;
        unsigned i = first + lane;
        if (i < (unsigned)n) {
            unsigned long long v = value[i];
            int s = 0;
            while (v > 1 && s < limit) {
                v = v & 1 ? 3 * v + 1 : v / 2;
                ++s;
            }
            steps[i] = s;
        }
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicInc(&finished, BLOCKS - 1) == BLOCKS - 1) atomicExch(&next_one, 0u);
    }
}
