// How many steps from each number to one: halved when even, three times and one more when odd. A
// warp that has ended takes the next 32 numbers.
__device__ unsigned next, ended;

__global__ void collatz(const unsigned* start, int* steps, int n) {
    int lane = threadIdx.x % 32;
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
    __syncthreads();
    // The last block to end leaves the counters as it found them.
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&ended, 1u) == gridDim.x - 1) {
            ended = 0;
            next = 0;
        }
    }
}
