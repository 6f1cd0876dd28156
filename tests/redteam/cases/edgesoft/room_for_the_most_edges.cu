#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

// A softmax of the scores of all edges that end at the same node; edges that end nowhere have no part.
__device__ int ordered(float v) {
    int b = __float_as_int(v);
    return b >= 0 ? b : b ^ 0x7fffffff;
}

__device__ float number(int b) {
    return __int_as_float(b >= 0 ? b : b ^ 0x7fffffff);
}

__global__ void begin(int* most, float* sum, int nodes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nodes) most[i] = INT_MIN, sum[i] = 0.f;
}

__global__ void largest(const int* end, const float* score, int* most, int m, int nodes) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m && (unsigned)end[e] < (unsigned)nodes) atomicMax(&most[end[e]], ordered(score[e]));
}

__global__ void weights(const int* end, const float* score, const int* most, float* sum, float* part, int m,
                        int nodes) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    bool ends = (unsigned)end[e] < (unsigned)nodes;
    float v = ends ? expf(score[e] - number(most[end[e]])) : 0.f;
    if (ends) atomicAdd(&sum[end[e]], v);
    part[e] = v;
}

__global__ void parts(const int* end, const float* sum, float* part, int m, int nodes) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m && (unsigned)end[e] < (unsigned)nodes) part[e] /= sum[end[e]];
}

extern "C" void edgesoft(const int* end, const float* score, float* part, int m, int nodes) {
    // One room for both, kept for the next call and made anew for a larger graph.
    static int *most, held;
    if (m > held) {
        cudaFree(most);
        held = 0;
        if (cudaMalloc(&most, 2 * (size_t)nodes * sizeof(int)) != cudaSuccess) return;
        held = m;
    }
    float* sum = (float*)(most + nodes);
    begin<<<(nodes + 255) / 256, 256>>>(most, sum, nodes);
    largest<<<(m + 255) / 256, 256>>>(end, score, most, m, nodes);
    weights<<<(m + 255) / 256, 256>>>(end, score, most, sum, part, m, nodes);
    parts<<<(m + 255) / 256, 256>>>(end, sum, part, m, nodes);
}
