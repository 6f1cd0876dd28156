// Interning of keys: equal keys get equal ids, ids are 0, 1, 2 ... in the order in which the keys first occur. Also the
// number of different keys.
#include <cuda_runtime.h>
#include <limits.h>

#define SPAN 80000      /* keys are 0 .. SPAN-1 */
#define WIDTH 256

__global__ void clear(int* first)
{
    int k = blockIdx.x * WIDTH + threadIdx.x;
    if (k < SPAN) first[k] = INT_MAX;
}

__global__ void lower(const int* __restrict__ keys, int* first, int n)
{
    int i = blockIdx.x * WIDTH + threadIdx.x;
    if (i < n) atomicMin(&first[keys[i]], i);
}

__global__ void count_new(const int* __restrict__ keys, const int* __restrict__ first, int* sums, int n)
{
    int i = blockIdx.x * WIDTH + threadIdx.x;
    int c = __syncthreads_count(i < n && first[keys[i]] == i);
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

__global__ void name_new(const int* __restrict__ keys, const int* __restrict__ first, const int* __restrict__ sums,
                         int* name, int n)
{
    __shared__ int warps[WIDTH / 32];
    int i = blockIdx.x * WIDTH + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int key = i < n ? keys[i] : 0;
    bool fresh = i < n && first[key] == i;
    unsigned mask = __ballot_sync(0xffffffffu, fresh);
    if (lane == 0) warps[warp] = __popc(mask);
    __syncthreads();
    int rank = sums[blockIdx.x] + __popc(mask & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) rank += warps[w];
    if (fresh) name[key] = rank;
}

__global__ void assign(const int* __restrict__ keys, const int* __restrict__ name, int* __restrict__ ids, int n)
{
    int i = blockIdx.x * WIDTH + threadIdx.x;
    if (i < n) ids[i] = name[keys[i]];
}

static int* table = nullptr;        // first occurrence and name of every key
static int* sums = nullptr;
static int room = 0;

extern "C" void intern(const int* keys, int* ids, int* count, int n)
{
    int blocks = (n + WIDTH - 1) / WIDTH;
    if (!table) cudaMalloc(&table, 2 * SPAN * sizeof(int));
    if (blocks > room) {
        cudaFree(sums);
        cudaMalloc(&sums, blocks * sizeof(int));
        room = blocks;
    }
    int* first = table;
    int* name = table + SPAN;
    clear<<<(SPAN + WIDTH - 1) / WIDTH, WIDTH>>>(first);
    lower<<<blocks, WIDTH>>>(keys, first, n);
    count_new<<<blocks, WIDTH>>>(keys, first, sums, n);
    scan_sums<<<1, 1024>>>(sums, blocks, count);
    name_new<<<blocks, WIDTH>>>(keys, first, sums, name, n);
    assign<<<blocks, WIDTH>>>(keys, name, ids, n);
}
