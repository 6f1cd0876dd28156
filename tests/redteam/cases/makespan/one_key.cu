// Makespans of p production sequences on a line of machines (permutation flow shop):
// a lot enters machine m when it has left machine m-1 and the lot before it has left machine m.
// time holds 64 kinds of lot; best receives the shortest makespan and the first sequence that has it.
#include <cuda_runtime.h>

__global__ void line_kernel(const int* __restrict__ time, const int* __restrict__ lots, int* __restrict__ clock,
                            int* __restrict__ span, int p, int len, int machines)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= p) return;
    for (int m = 0; m < machines; ++m) clock[(size_t)m * p + q] = 0;
    int ready = 0;
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

__global__ void best_kernel(const int* __restrict__ span, unsigned* __restrict__ key, int p)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    // span first, then the sequence: the least key is the first of the shortest
    unsigned mine = q < p ? (unsigned)span[q] * (unsigned)p + (unsigned)q : 0xffffffffu;
    mine = __reduce_min_sync(0xffffffffu, mine);
    if (threadIdx.x % 32 == 0) atomicMin(key, mine);
}

__global__ void split_kernel(const unsigned* __restrict__ key, int* __restrict__ best, int p)
{
    best[0] = (int)(*key / (unsigned)p);
    best[1] = (int)(*key % (unsigned)p);
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
    int* clock = workspace((size_t)p * machines + 1);
    unsigned* key = (unsigned*)(clock + (size_t)p * machines);
    cudaMemsetAsync(key, 0xff, sizeof(unsigned), 0);
    line_kernel<<<(p + 127) / 128, 128>>>(time, lots, clock, span, p, len, machines);
    best_kernel<<<(p + 255) / 256, 256>>>(span, key, p);
    split_kernel<<<1, 1>>>(key, best, p);
}
