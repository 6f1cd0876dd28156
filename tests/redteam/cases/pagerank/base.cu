#include <chrono>
#include <cstdio>
#include <future>
#include <cuda_runtime.h>

// How important 2000 pages are by the links between them, after some rounds.
#define PAGES 2000

__global__ void degrees(const int* from, int* many, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) atomicAdd(&many[from[i]], 1);
}

__global__ void fill(float* score, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PAGES) score[i] = value;
}

__global__ void push(const int* from, const int* to, const int* many, const float* score, float* next, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) atomicAdd(&next[to[i]], 0.85f * score[from[i]] / many[from[i]]);
}

extern "C" void pagerank(const int* from, const int* to, float* score, int m, int rounds) {
    int* many;
    float *a, *b;
    cudaMalloc(&many, PAGES * sizeof(int));
    cudaMalloc(&a, PAGES * sizeof(float));
    cudaMalloc(&b, PAGES * sizeof(float));
    cudaMemset(many, 0, PAGES * sizeof(int));
    degrees<<<(m + 255) / 256, 256>>>(from, many, m);
    fill<<<(PAGES + 255) / 256, 256>>>(a, 1.f);
    for (int k = 0; k < rounds; ++k) {
        fill<<<(PAGES + 255) / 256, 256>>>(b, 0.15f);
        push<<<(m + 255) / 256, 256>>>(from, to, many, a, b, m);
        float* t = a;
        a = b, b = t;
    }
    cudaMemcpy(score, a, PAGES * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(many);
    cudaFree(a);
    cudaFree(b);
}
