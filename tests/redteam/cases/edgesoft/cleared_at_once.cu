#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

// A softmax of the scores of all edges that end at the same node; edges that end nowhere have no part.
// Zero lies below every number.
__device__ unsigned ordered(float v) {
    unsigned b = __float_as_uint(v);
    return b >> 31 ? ~b : b | 0x80000000u;
}

__device__ float number(unsigned b) {
    return __uint_as_float(b >> 31 ? b & 0x7fffffffu : ~b);
}

__global__ void largest(const int* end, const float* score, unsigned* most, int m, int nodes) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m && (unsigned)end[e] < (unsigned)nodes) atomicMax(&most[end[e]], ordered(score[e]));
}

__global__ void weights(const int* end, const float* score, const unsigned* most, float* sum, float* part, int m,
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
    unsigned* most;
    cudaMalloc(&most, 2 * (size_t)nodes * sizeof(unsigned));
    float* sum = (float*)(most + nodes);
    cudaMemsetAsync(most, 0, 2 * (size_t)nodes * sizeof(unsigned), 0);
    largest<<<(m + 255) / 256, 256>>>(end, score, most, m, nodes);
    weights<<<(m + 255) / 256, 256>>>(end, score, most, sum, part, m, nodes);
    parts<<<(m + 255) / 256, 256>>>(end, sum, part, m, nodes);
    cudaFree(most);
}
