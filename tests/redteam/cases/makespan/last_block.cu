// Makespans of p production sequences on a line of machines (permutation flow shop):
// a lot enters machine m when it has left machine m-1 and the lot before it has left machine m.
// time holds 64 kinds of lot; best receives the shortest makespan and the first sequence that has it.
#include <cuda_runtime.h>

__device__ unsigned long long shortest = ~0ull;
__device__ unsigned finished = 0;

__global__ void line_kernel(const int* __restrict__ time, const int* __restrict__ lots, int* __restrict__ clock,
                            int* __restrict__ span, int* __restrict__ best, int p, int len, int machines)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    int ready = 0;
    if (q < p) {
    for (int m = 0; m < machines; ++m) clock[(size_t)m * p + q] = 0;
    for (int k = 0; k < len; ++k) {
        const int* need = time + (size_t)lots[(size_t)q * len + k] * machines;
        ready = 0;
        for (int m = 0; m < machines; ++m) {
            ready = max(ready, clock[(size_t)m * p + q]) + need[m];
            clock[(size_t)m * p + q] = ready;
        }
    }
    span[q] = ready;
    }
    // the block's shortest, then the grid's; the last block leaves both words as it found them
    unsigned long long key = q < p ? (unsigned long long)ready << 32 | (unsigned)q : ~0ull;
    for (int step = 16; step > 0; step >>= 1) key = min(key, __shfl_xor_sync(0xffffffffu, key, step));
    if (threadIdx.x % 32 == 0) atomicMin(&shortest, key);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1) {
        __threadfence();
        key = atomicExch(&shortest, ~0ull);
        best[0] = (int)(key >> 32);
        best[1] = (int)(key & 0xffffffffu);
    }
}

static int* room = nullptr;
static size_t room_size = 0;

static int* workspace(size_t count)
{
    if (count > room_size) {
        if (room) cudaFree(room);
        cudaMalloc(&room, count * sizeof(int));
        room_size = count;
    }
    return room;
}

extern "C" void makespan(const int* time, const int* lots, int* span, int* best, int p, int len, int machines)
{
    int* clock = workspace((size_t)p * machines);
    line_kernel<<<(p + 127) / 128, 128>>>(time, lots, clock, span, best, p, len, machines);
}
