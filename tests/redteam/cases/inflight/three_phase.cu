// Metadata of an in-flight batch for a paged KV cache: request r brings queries[r] new tokens (0..most) on top of
// context[r] old ones.  The new tokens are packed; each gets its request, its position and the cache slot that its
// page table names (-1 where there is none).  The packed arrays have room for B * most tokens, the rest is blank.
#include <cuda_runtime.h>

#define PAGE 16

__device__ int scan_block(int x, int* part) {
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    for (int o = 1; o < 32; o <<= 1) {
        int y = __shfl_up_sync(0xffffffffu, x, o);
        if (lane >= o) x += y;
    }
    if (lane == 31) part[w] = x;
    __syncthreads();
    if (w == 0) {
        int s = part[lane];
        for (int o = 1; o < 32; o <<= 1) {
            int y = __shfl_up_sync(0xffffffffu, s, o);
            if (lane >= o) s += y;
        }
        part[lane] = s;
    }
    __syncthreads();
    return w ? x + part[w - 1] : x;
}

__global__ void scan_tiles(const int* queries, int* cu, int* sums, int B) {
    __shared__ int part[32];
    int i = blockIdx.x * 1024 + threadIdx.x;
    int x = scan_block(i < B ? queries[i] : 0, part);
    if (i < B) cu[i + 1] = x;
    if (threadIdx.x == 1023) sums[blockIdx.x] = x;
}

__global__ void scan_sums(int* sums, int tiles) {
    __shared__ int part[32];
    int carry = 0;
    for (int from = 0; from < tiles; from += 1024) {
        int i = from + threadIdx.x;
        int x = scan_block(i < tiles ? sums[i] : 0, part);
        if (i < tiles) sums[i] = carry + x;
        carry += part[31];
        __syncthreads();
    }
}

__global__ void add_sums(int* cu, const int* sums, int B) {
    int i = blockIdx.x * 1024 + threadIdx.x;
    if (i == 0) cu[0] = 0;
    if (blockIdx.x > 0 && i < B) cu[i + 1] += sums[blockIdx.x - 1];
}

__global__ void blank(int* row, int* position, long long* slot, int capacity) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= capacity) return;
    row[t] = -1;
    position[t] = 0;
    slot[t] = -1;
}

// One warp per request.
__global__ void place(const int* queries, const int* context, const int* table, const int* cu, int* row,
                      int* position, long long* slot, int* last, int B, int pages) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (r >= B) return;
    int q = queries[r];
    int at = cu[r];
    for (int j = lane; j < q; j += 32) {
        int p = context[r] + j;
        int page = p / PAGE;
        long long s = -1;
        if (page < pages) {
            int id = table[(size_t)r * pages + page];
            if (id >= 0) s = (long long)id * PAGE + p % PAGE;
        }
        row[at + j] = r;
        position[at + j] = p;
        slot[at + j] = s;
    }
    if (lane == 0) last[r] = q > 0 ? at + q - 1 : -1;
}

extern "C" void inflight(const int* queries, const int* context, const int* table, int* cu, int* row, int* position,
                         long long* slot, int* last, int B, int pages, int most) {
    static int* sums = nullptr;
    static int room = 0;
    int tiles = (B + 1023) / 1024;
    if (tiles > room) {
        cudaFree(sums);
        cudaMalloc(&sums, tiles * sizeof(int));
        room = tiles;
    }
    int capacity = B * most;
    scan_tiles<<<tiles, 1024>>>(queries, cu, sums, B);
    scan_sums<<<1, 1024>>>(sums, tiles);
    add_sums<<<tiles, 1024>>>(cu, sums, B);
    blank<<<(capacity + 255) / 256, 256>>>(row, position, slot, capacity);
    place<<<(B + 7) / 8, 256>>>(queries, context, table, cu, row, position, slot, last, B, pages);
}
