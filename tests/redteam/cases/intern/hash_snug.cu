// Interning of keys: equal keys get equal ids, ids are 0, 1, 2 ... in the order in which the keys first occur. Also the
// number of different keys.
// Open addressing in place of the direct table: place and name of a key lie in one slot, and the table fits in the L2
// slice next to the keys.
#include <cuda_runtime.h>
#include <limits.h>

#define SPAN 80000      /* keys are 0 .. SPAN-1 */
#define WIDTH 256
#define SLOTS (1 << 16)

struct Slot { int key, first, name; };

__global__ void clear(Slot* slots)
{
    int s = blockIdx.x * WIDTH + threadIdx.x;
    if (s < SLOTS) { slots[s].key = -1; slots[s].first = INT_MAX; }
}

__device__ __forceinline__ int start_of(int key) { return (int)(((unsigned)key * 2654435769u) >> (32 - 16)); }

__device__ __forceinline__ int find(const Slot* slots, int key)
{
    int s = start_of(key);
    while (slots[s].key != key) s = (s + 1) & (SLOTS - 1);
    return s;
}

__global__ void lower(const int* __restrict__ keys, Slot* slots, int n)
{
    int i = blockIdx.x * WIDTH + threadIdx.x;
    if (i >= n) return;
    int key = keys[i];
    int s = start_of(key);
    while (true) {
        int was = atomicCAS(&slots[s].key, -1, key);
        if (was == -1 || was == key) break;
        s = (s + 1) & (SLOTS - 1);
    }
    atomicMin(&slots[s].first, i);
}

__global__ void count_new(const int* __restrict__ keys, const Slot* slots, int* sums, int n)
{
    int i = blockIdx.x * WIDTH + threadIdx.x;
    int c = __syncthreads_count(i < n && slots[find(slots, keys[i])].first == i);
    if (threadIdx.x == 0) sums[blockIdx.x] = c;
}

__global__ void __launch_bounds__(1024) scan_sums(int* sums, int blocks, int* count)
{
    __shared__ int part[1024];
    int carry = 0;
    for (int base = 0; base < blocks; base += 1024) {
        int b = base + threadIdx.x;
        int mine = b < blocks ? sums[b] : 0;
        part[threadIdx.x] = mine;
        __syncthreads();
        for (int step = 1; step < 1024; step *= 2) {
            int add = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
            __syncthreads();
            part[threadIdx.x] += add;
            __syncthreads();
        }
        if (b < blocks) sums[b] = carry + part[threadIdx.x] - mine;
        carry += part[1023];
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = carry;
}

__global__ void name_new(const int* __restrict__ keys, Slot* slots, const int* __restrict__ sums, int n)
{
    __shared__ int warps[WIDTH / 32];
    int i = blockIdx.x * WIDTH + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int s = i < n ? find(slots, keys[i]) : 0;
    bool fresh = i < n && slots[s].first == i;
    unsigned mask = __ballot_sync(0xffffffffu, fresh);
    if (lane == 0) warps[warp] = __popc(mask);
    __syncthreads();
    int rank = sums[blockIdx.x] + __popc(mask & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) rank += warps[w];
    if (fresh) slots[s].name = rank;
}

__global__ void assign(const int* __restrict__ keys, const Slot* __restrict__ slots, int* __restrict__ ids, int n)
{
    int i = blockIdx.x * WIDTH + threadIdx.x;
    if (i < n) ids[i] = slots[find(slots, keys[i])].name;
}

static Slot* slots = nullptr;
static int* sums = nullptr;
static int room = 0;

extern "C" void intern(const int* keys, int* ids, int* count, int n)
{
    int blocks = (n + WIDTH - 1) / WIDTH;
    if (!slots) cudaMalloc(&slots, SLOTS * sizeof(Slot));
    if (blocks > room) {
        cudaFree(sums);
        cudaMalloc(&sums, blocks * sizeof(int));
        room = blocks;
    }
    clear<<<SLOTS / WIDTH, WIDTH>>>(slots);
    lower<<<blocks, WIDTH>>>(keys, slots, n);
    count_new<<<blocks, WIDTH>>>(keys, slots, sums, n);
    scan_sums<<<1, 1024>>>(sums, blocks, count);
    name_new<<<blocks, WIDTH>>>(keys, slots, sums, n);
    assign<<<blocks, WIDTH>>>(keys, slots, ids, n);
}
