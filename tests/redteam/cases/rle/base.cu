#include <cuda_runtime.h>
#define THREADS 1024

// Runs of equal bytes: what each run is of and how long it is, in their order, and how many there are. What
// is behind the last run is zero.
__global__ void heads(const unsigned char* x, int* start, int n) {
    size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;
    int many = __syncthreads_count(i < n && (i == 0 || x[i] != x[i - 1]));
    if (threadIdx.x == 0) start[blockIdx.x] = many;
}

__global__ void begun(int* start, int* count, int blocks) {
    int sum = 0;
    for (int k = 0; k < blocks; ++k) {
        int many = start[k];
        start[k] = sum;
        sum += many;
    }
    *count = sum;
}

__global__ void placed(const unsigned char* x, const int* start, int* begin, unsigned char* value, int n) {
    __shared__ int part[32];
    size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool head = i < n && (i == 0 || x[i] != x[i - 1]);
    unsigned all = __ballot_sync(0xffffffffu, head);
    if (lane == 0) part[warp] = __popc(all);
    __syncthreads();
    int at = start[blockIdx.x] + __popc(all & ((1u << lane) - 1u));
    for (int k = 0; k < warp; ++k) at += part[k];
    if (!head) return;
    begin[at] = (int)i;
    value[at] = x[i];
}

__global__ void measured(const int* begin, const int* count, unsigned char* value, int* length, int n) {
    size_t j = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (j >= n) return;
    int runs = *count;
    if (j >= runs) value[j] = 0;
    length[j] = j >= runs ? 0 : (j + 1 < runs ? begin[j + 1] : n) - begin[j];
}

extern "C" void rle(const unsigned char* x, unsigned char* value, int* length, int* count, int n) {
    int blocks = (int)(((long long)n + THREADS - 1) / THREADS);
    int* start;
    cudaMalloc(&start, ((size_t)blocks + n) * sizeof(int));
    heads<<<blocks, THREADS>>>(x, start, n);
    begun<<<1, 1>>>(start, count, blocks);
    placed<<<blocks, THREADS>>>(x, start, start + blocks, value, n);
    measured<<<blocks, THREADS>>>(start + blocks, count, value, length, n);
    cudaFree(start);
}
