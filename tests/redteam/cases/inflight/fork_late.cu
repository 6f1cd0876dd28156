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
    static cudaStream_t side = nullptr;
    static cudaEvent_t begun, blanked;
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&blanked, cudaEventDisableTiming);
    }
    int capacity = B * most;
    // the scan keeps one multiprocessor busy: blank the arrays beside it
    cudaEventRecord(begun, 0);
    cudaStreamWaitEvent(side, begun, 0);
    blank<<<(capacity + 255) / 256, 256, 0, side>>>(row, position, slot, capacity);
    cudaEventRecord(blanked, side);
    scan_queries<<<1, 1024>>>(queries, cu, B);
    place<<<(B + 7) / 8, 256>>>(queries, context, table, cu, row, position, slot, last, B, pages);
    cudaStreamWaitEvent(0, blanked, 0);
}
