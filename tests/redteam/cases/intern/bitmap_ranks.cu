// Interning of keys: equal keys get equal ids, ids are 0, 1, 2 ... in the order in which the keys first occur. Also the
// number of different keys.
// First occurrences are marked in a bitmap over the places; the id of a key is the number of marks before its own.
#include <cuda_runtime.h>
#include <limits.h>

#define SPAN 80000      /* keys are 0 .. SPAN-1 */
#define WIDTH 256

__global__ void clear(int* first, unsigned* bits, int words)
{
    int k = blockIdx.x * WIDTH + threadIdx.x;
    if (k < SPAN) first[k] = INT_MAX;
    if (k < words) bits[k] = 0;
}

__global__ void lower(const int* __restrict__ keys, int* first, int n)
{
    int i = blockIdx.x * WIDTH + threadIdx.x;
    if (i < n) atomicMin(&first[keys[i]], i);
}

__global__ void mark(const int* __restrict__ first, unsigned* bits)
{
    int k = blockIdx.x * WIDTH + threadIdx.x;
    if (k < SPAN && first[k] != INT_MAX) atomicOr(&bits[first[k] >> 5], 1u << (first[k] & 31));
}

// One block: below[w] = number of marks in the words before w.
__global__ void __launch_bounds__(1024) scan_words(const unsigned* __restrict__ bits, int* __restrict__ below, int words,
                                                   int* count)
{
    __shared__ int part[1024];
    int each = (words + 1023) / 1024;
    int from = min(words, (int)threadIdx.x * each), to = min(words, from + each);
    int mine = 0;
    for (int w = from; w < to; ++w) mine += __popc(bits[w]);
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
        int add = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
        __syncthreads();
        part[threadIdx.x] += add;
        __syncthreads();
    }
    int run = part[threadIdx.x] - mine;
    for (int w = from; w < to; ++w) { below[w] = run; run += __popc(bits[w]); }
    if (threadIdx.x == 1023) *count = run;
}

__global__ void assign(const int* __restrict__ keys, const int* __restrict__ first, const unsigned* __restrict__ bits,
                       const int* __restrict__ below, int* __restrict__ ids, int n)
{
    int i = blockIdx.x * WIDTH + threadIdx.x;
    if (i >= n) return;
    int f = first[keys[i]];
    ids[i] = below[f >> 5] + __popc(bits[f >> 5] & ((1u << (f & 31)) - 1));
}

static int* first = nullptr;
static int* work = nullptr;
static int room = 0;

extern "C" void intern(const int* keys, int* ids, int* count, int n)
{
    int blocks = (n + WIDTH - 1) / WIDTH, words = (n + 31) / 32;
    if (!first) cudaMalloc(&first, SPAN * sizeof(int));
    if (words > room) {
        cudaFree(work);
        cudaMalloc(&work, 2 * (size_t)words * sizeof(int));
        room = words;
    }
    unsigned* bits = (unsigned*)work;
    int* below = work + words;
    int most = words > SPAN ? words : SPAN;
    clear<<<(most + WIDTH - 1) / WIDTH, WIDTH>>>(first, bits, words);
    lower<<<blocks, WIDTH>>>(keys, first, n);
    mark<<<(SPAN + WIDTH - 1) / WIDTH, WIDTH>>>(first, bits);
    scan_words<<<1, 1024>>>(bits, below, words, count);
    assign<<<blocks, WIDTH>>>(keys, first, bits, below, ids, n);
}
