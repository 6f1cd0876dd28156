#include <chrono>
#include <cstdio>
#include <future>
#include <cuda_runtime.h>

// How important 2000 pages are by the links between them, after some rounds.
#define PAGES 2000

// Links are gathered by the page that they lead to, in any order; a warp adds up those of a page.
__global__ void degrees(const int* from, const int* to, int* many, int* coming, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    atomicAdd(&many[from[i]], 1);
    atomicAdd(&coming[to[i]], 1);
}

__global__ void begin(const int* coming, int* start, int* at) {
    __shared__ int sums[1024];
    int t = threadIdx.x, a = 2 * t < PAGES ? coming[2 * t] : 0, b = 2 * t + 1 < PAGES ? coming[2 * t + 1] : 0;
    sums[t] = a + b;
    __syncthreads();
    for (int w = 1; w < 1024; w *= 2) {
        int more = t >= w ? sums[t - w] : 0;
        __syncthreads();
        sums[t] += more;
        __syncthreads();
    }
    int before = sums[t] - a - b;
    if (2 * t < PAGES) start[2 * t] = at[2 * t] = before;
    if (2 * t + 1 < PAGES) start[2 * t + 1] = at[2 * t + 1] = before + a;
    if (t == 1023) start[PAGES] = sums[t];
}

__global__ void gather(const int* from, const int* to, int* at, int* source, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) source[atomicAdd(&at[to[i]], 1)] = from[i];
}

__global__ void fill(float* score, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PAGES) score[i] = value;
}

__global__ void pull(const int* start, const int* source, const int* many, const float* score, float* next) {
    int page = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (page >= PAGES) return;
    float sum = 0.f;
    for (int e = start[page] + lane; e < start[page + 1]; e += 32) sum += score[source[e]] / many[source[e]];
    for (int w = 16; w; w /= 2) sum += __shfl_down_sync(~0u, sum, w);
    if (lane == 0) next[page] = 0.15f + 0.85f * sum;
}

extern "C" void pagerank(const int* from, const int* to, float* score, int m, int rounds) {
    int *room, *source;
    float* a;
    cudaMalloc(&room, (4 * PAGES + 1) * sizeof(int));
    cudaMalloc(&source, m * sizeof(int));
    cudaMalloc(&a, 2 * PAGES * sizeof(float));
    int *many = room, *coming = room + PAGES, *at = room + 2 * PAGES, *start = room + 3 * PAGES;
    float* b = a + PAGES;
    cudaMemset(room, 0, 2 * PAGES * sizeof(int));
    degrees<<<(m + 255) / 256, 256>>>(from, to, many, coming, m);
    begin<<<1, 1024>>>(coming, start, at);
    gather<<<(m + 255) / 256, 256>>>(from, to, at, source, m);
    fill<<<(PAGES + 255) / 256, 256>>>(a, 1.f);
    for (int k = 0; k < rounds; ++k) {
        pull<<<(PAGES + 7) / 8, 256>>>(start, source, many, a, b);
        float* t = a;
        a = b, b = t;
    }
    cudaMemcpy(score, a, PAGES * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(room);
    cudaFree(source);
    cudaFree(a < b ? a : b);
}
