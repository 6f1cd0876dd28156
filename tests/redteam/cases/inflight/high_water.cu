// Metadata of an in-flight batch for a paged KV cache: request r brings queries[r] new tokens (0..most) on top of
// context[r] old ones.  The new tokens are packed; each gets its request, its position and the cache slot that its
// page table names (-1 where there is none).  The packed arrays have room for B * most tokens, the rest is blank.
#include <cuda_runtime.h>

#define PAGE 16

// Inclusive running count of the new tokens, one block, 1024 requests at a time.
__global__ void scan_queries(const int* queries, int* cu, int B) {
    __shared__ int part[1024];
    __shared__ int carry;
    int tid = threadIdx.x;
    if (tid == 0) { carry = 0; cu[0] = 0; }
    __syncthreads();
    for (int from = 0; from < B; from += 1024) {
        int i = from + tid;
        part[tid] = i < B ? queries[i] : 0;
        __syncthreads();
        for (int o = 1; o < 1024; o <<= 1) {
            int add = tid >= o ? part[tid - o] : 0;
            __syncthreads();
            part[tid] += add;
            __syncthreads();
        }
        if (i < B) cu[i + 1] = carry + part[tid];
        __syncthreads();
        if (tid == 1023) carry += part[1023];
        __syncthreads();
    }
}

// Places beyond the last batch's end are blank already when the arrays are the same ones.
__device__ int high_water;

__global__ void blank(const int* cu, int* row, int* position, long long* slot, int B, int capacity, bool same) {
    int end = same ? high_water : capacity;
    for (int t = cu[B] + blockIdx.x * blockDim.x + threadIdx.x; t < end; t += gridDim.x * blockDim.x) {
        row[t] = -1;
        position[t] = 0;
        slot[t] = -1;
    }
}

__global__ void note(const int* cu, int B) { high_water = cu[B]; }

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
    static int *row_before = nullptr, *position_before = nullptr;
    static long long* slot_before = nullptr;
    static int capacity_before = 0;
    int capacity = B * most;
    bool same = row == row_before && position == position_before && slot == slot_before && capacity == capacity_before;
    scan_queries<<<1, 1024>>>(queries, cu, B);
    blank<<<132, 256>>>(cu, row, position, slot, B, capacity, same);
    note<<<1, 1>>>(cu, B);
    place<<<(B + 7) / 8, 256>>>(queries, context, table, cu, row, position, slot, last, B, pages);
    row_before = row;
    position_before = position;
    slot_before = slot;
    capacity_before = capacity;
}
