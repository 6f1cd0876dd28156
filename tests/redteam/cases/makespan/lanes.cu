// Makespans of p production sequences on a line of machines (permutation flow shop):
// a lot enters machine m when it has left machine m-1 and the lot before it has left machine m.
// time holds 64 kinds of lot; best receives the shortest makespan and the first sequence that has it.
#include <cuda_runtime.h>

// A warp a sequence, a lane a machine: lane m takes up lot k in step k + m, with the time at which lane m-1 has
// let go of it. More than 32 machines go in strips; gate holds when each lot leaves the strip before.
__global__ void line_kernel(const int* __restrict__ time, const int* __restrict__ lots, int* gate_all,
                            int* __restrict__ span, int p, int len, int machines)
{
    int q = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (q >= p) return;
    int* gate = gate_all ? gate_all + (size_t)q * len : nullptr;
    const int* mine = lots + (size_t)q * len;
    int clock = 0;
    for (int strip = 0; strip < machines; strip += 32) {
        int m = strip + lane;
        bool more = strip + 32 < machines;
        clock = 0;
        for (int step = 0; step < len + 31; ++step) {
            int k = step - lane;
            int in = __shfl_up_sync(0xffffffffu, clock, 1);
            if (lane == 0) in = strip > 0 && k < len ? gate[k] : 0;
            bool busy = k >= 0 && k < len && m < machines;
            if (busy) clock = max(clock, in) + time[(size_t)mine[k] * machines + m];
            __syncwarp();
            if (busy && lane == 31 && more) gate[k] = clock;
            __syncwarp();
        }
    }
    int last = (machines - 1) % 32;
    clock = __shfl_sync(0xffffffffu, clock, last);
    if (lane == 0) span[q] = clock;
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
    int* gate = machines > 32 ? workspace((size_t)p * len) : nullptr;
    line_kernel<<<(p + 3) / 4, 128>>>(time, lots, gate, span, p, len, machines);
    best_kernel<<<1, 256>>>(span, best, p);
}
