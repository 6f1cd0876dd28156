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

__global__ void scan_counts(int* count, int total) {
    __shared__ int s[1024];
    int t = threadIdx.x, carry = 0;
    for (int at = 0; at < total; at += 1024) {
        int v = at + t < total ? count[at + t] : 0;
        s[t] = v;
        __syncthreads();
        for (int d = 1; d < 1024; d <<= 1) {
            int a = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += a;
            __syncthreads();
        }
        if (at + t < total) count[at + t] = carry + s[t] - v;
        carry += s[1023];
        __syncthreads();
    }
}

__global__ void place(const unsigned char* __restrict__ key, const float* __restrict__ value, int n, int tiles,
                      const int* __restrict__ count, int* __restrict__ start, int* __restrict__ order,
                      float* __restrict__ grouped) {
    __shared__ int at[BINS];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int b = threadIdx.x; b < BINS; b += 128) {
        at[b] = count[(size_t)b * tiles + blockIdx.x];
        if (blockIdx.x == 0) start[b] = at[b];
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) start[BINS] = n;
    __syncthreads();
    long long first = (long long)blockIdx.x * TILE;
    // Four warps take turns over the tile; a warp claims its run of a bin with one atomic.
    for (int k = warp * 32; k < TILE && first + k < n; k += 128) {
        long long i = first + k + lane;
        bool in = i < n;
        int b = in ? key[i] : BINS;
        unsigned same = __match_any_sync(0xffffffffu, b);
        int before = __popc(same & ((1u << lane) - 1));
        int leader = __ffs(same) - 1, spot = 0;
        if (in && before == 0) spot = atomicAdd(&at[b], __popc(same));
        spot = __shfl_sync(0xffffffffu, spot, leader) + before;
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
    scan_counts<<<1, 1024>>>(count, tiles * BINS);
    place<<<tiles, 128>>>(key, value, n, tiles, count, start, order, grouped);
    cudaFree(count);
}
