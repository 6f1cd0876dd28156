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

// Thread per packed place: finds its request by bisection, or writes the blank.
__global__ void tokens(const int* context, const int* table, const int* cu, int* row, int* position,
                       long long* slot, int* last, int B, int pages, int capacity) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < B) last[t] = cu[t + 1] > cu[t] ? cu[t + 1] - 1 : -1;
    if (t >= capacity) return;
    int r = -1, p = 0;
    long long s = -1;
    if (t < cu[B]) {
        r = 0;
        // greatest r with cu[r] <= t; requests without tokens share their start with the next and lose to it
        #pragma unroll
        for (int step = 1 << 14; step > 0; step >>= 1)
            if (r + step < B && cu[r + step] <= t) r += step;
        p = context[r] + (t - cu[r]);
        int page = p / PAGE;
        if (page < pages) {
            int id = table[(size_t)r * pages + page];
            if (id >= 0) s = (long long)id * PAGE + p % PAGE;
        }
    }
    row[t] = r;
    position[t] = p;
    slot[t] = s;
}

extern "C" void inflight(const int* queries, const int* context, const int* table, int* cu, int* row, int* position,
                         long long* slot, int* last, int B, int pages, int most) {
    int capacity = B * most;
    scan_queries<<<1, 1024>>>(queries, cu, B);
    tokens<<<(capacity + 255) / 256, 256>>>(context, table, cu, row, position, slot, last, B, pages, capacity);
}
