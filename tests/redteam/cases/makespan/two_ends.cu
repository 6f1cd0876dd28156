// Makespans of p production sequences on a line of machines (permutation flow shop):
// a lot enters machine m when it has left machine m-1 and the lot before it has left machine m.
// time holds 64 kinds of lot; best receives the shortest makespan and the first sequence that has it.
#include <cuda_runtime.h>

// Two threads a sequence: one carries the first half of the lots forwards, the other the rest backwards from the
// end of the line (tail[m]: the longest way from machine m to the end). A longest way changes halves on one machine.
__global__ void halves_kernel(const int* __restrict__ time, const int* __restrict__ lots, int* __restrict__ room,
                              int p, int len, int machines)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= p) return;
    int half = len / 2;
    int* clock = room + (size_t)blockIdx.y * machines * p;
    for (int m = 0; m < machines; ++m) clock[(size_t)m * p + q] = 0;
    if (blockIdx.y == 0) {
        for (int k = 0; k < half; ++k) {
            const int* need = time + (size_t)lots[(size_t)q * len + k] * machines;
            int ready = 0;
            for (int m = 0; m < machines; ++m) {
                ready = max(ready, clock[(size_t)m * p + q]) + need[m];
                clock[(size_t)m * p + q] = ready;
            }
        }
    } else {
        for (int k = len - 1; k >= half; --k) {
            const int* need = time + (size_t)lots[(size_t)q * len + k] * machines;
            int tail = 0;
            for (int m = machines - 1; m >= 0; --m) {
                tail = max(tail, clock[(size_t)m * p + q]) + need[m];
                clock[(size_t)m * p + q] = tail;
            }
        }
    }
}

__global__ void join_kernel(const int* __restrict__ room, int* __restrict__ span, int p, int machines)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= p) return;
    const int* tails = room + (size_t)machines * p;
    int longest = 0;
    for (int m = 0; m < machines; ++m) longest = max(longest, room[(size_t)m * p + q] + tails[(size_t)m * p + q]);
    span[q] = longest;
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
    int* clock = workspace((size_t)p * machines * 2);
    halves_kernel<<<dim3((p + 127) / 128, 2), 128>>>(time, lots, clock, p, len, machines);
    join_kernel<<<(p + 127) / 128, 128>>>(clock, span, p, machines);
    best_kernel<<<1, 256>>>(span, best, p);
}
