// Groups items by a byte key, keeping their order inside a group: tile histograms, one scan, a stable scatter.
#include <cuda_runtime.h>

#define TILE 2048
#define BINS 256

__global__ void tile_counts(const unsigned char* __restrict__ key, int n, int tiles, int* __restrict__ count) {
    __shared__ int h[BINS];
    h[threadIdx.x] = 0;
    __syncthreads();
    long long first = (long long)blockIdx.x * TILE;
    for (int k = threadIdx.x; k < TILE; k += BINS)
        if (first + k < n) atomicAdd(&h[key[first + k]], 1);
    __syncthreads();
    count[(size_t)threadIdx.x * tiles + blockIdx.x] = h[threadIdx.x];
}


#define SPAN 1024
#define SPANS 256

__device__ int span_sum[SPANS];

// Each block scans a span of the table; the spans' sums are scanned by one small block and added back.
__global__ void scan_spans(int* count, int total) {
    __shared__ int s[SPAN];
    int t = threadIdx.x, i = blockIdx.x * SPAN + t;
    int v = i < total ? count[i] : 0;
    s[t] = v;
    __syncthreads();
    for (int d = 1; d < SPAN; d <<= 1) {
        int a = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += a;
        __syncthreads();
    }
    if (i < total) count[i] = s[t] - v;
    if (t == SPAN - 1 && blockIdx.x < SPANS) span_sum[blockIdx.x] = s[t];
}

__global__ void scan_sums(int spans) {
    __shared__ int s[SPANS];
    int t = threadIdx.x;
    int v = t < spans ? span_sum[t] : 0;
    s[t] = v;
    __syncthreads();
    for (int d = 1; d < SPANS; d <<= 1) {
        int a = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += a;
        __syncthreads();
    }
    span_sum[t] = s[t] - v;
}

__global__ void add_sums(int* count, int total) {
    int i = blockIdx.x * SPAN + threadIdx.x;
    if (i < total && blockIdx.x < SPANS) count[i] += span_sum[blockIdx.x];
}

__global__ void place(const unsigned char* __restrict__ key, const float* __restrict__ value, int n, int tiles,
                      const int* __restrict__ count, int* __restrict__ start, int* __restrict__ order,
                      float* __restrict__ grouped) {
    __shared__ int at[BINS];
    int lane = threadIdx.x;
    for (int b = lane; b < BINS; b += 32) {
        at[b] = count[(size_t)b * tiles + blockIdx.x];
        if (blockIdx.x == 0) start[b] = at[b];
    }
    if (blockIdx.x == 0 && lane == 0) start[BINS] = n;
    __syncwarp();
    long long first = (long long)blockIdx.x * TILE;
    for (int k = 0; k < TILE && first + k < n; k += 32) {
        long long i = first + k + lane;
        bool in = i < n;
        int b = in ? key[i] : BINS;
        unsigned same = __match_any_sync(0xffffffffu, b);
        int before = __popc(same & ((1u << lane) - 1));
        int spot = in ? at[b] + before : 0;
        __syncwarp();
        if (in && before == 0) at[b] += __popc(same);
        __syncwarp();
        if (in) {
            order[spot] = (int)i;
            grouped[spot] = value[i];
        }
    }
}

extern "C" void keygroup(const unsigned char* key, const float* value, int* start, int* order, float* grouped, int n) {
    if (n <= 0) return;
    int tiles = (int)(((long long)n + TILE - 1) / TILE);
    int* count;
    cudaMalloc(&count, (size_t)tiles * BINS * sizeof(int));
    tile_counts<<<tiles, BINS>>>(key, n, tiles, count);
    int total = tiles * BINS, spans = (total + SPAN - 1) / SPAN;
    scan_spans<<<spans, SPAN>>>(count, total);
    scan_sums<<<1, SPANS>>>(spans);
    add_sums<<<spans, SPAN>>>(count, total);
    place<<<tiles, 32>>>(key, value, n, tiles, count, start, order, grouped);
    cudaFree(count);
}
