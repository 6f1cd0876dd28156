// How many steps from each number to one: halved when even, three times and one more when odd. A
// warp that has ended takes the next 32
// numbers. What was taken before the first block began is taken twice, to the same result.
__device__ unsigned next;

__global__ void collatz(const unsigned* start, int* steps, int n) {
    int lane = threadIdx.x % 32;
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicExch(&next, 0u);
    __syncthreads();
    for (;;) {
        unsigned first = 0;
        if (lane == 0) first = atomicAdd(&next, 32u);
        first = __shfl_sync(0xffffffffu, first, 0);
        if (first >= (unsigned)n) break;
        unsigned i = first + lane;
        if (i < (unsigned)n) {
            unsigned long long v = start[i];
            int s = 0;
            while (v > 1) {
                v = v % 2 ? 3 * v + 1 : v / 2;
                ++s;
            }
            steps[i] = s;
        }
        __syncwarp();
    }
}
