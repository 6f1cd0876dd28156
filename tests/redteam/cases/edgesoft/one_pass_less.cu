#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

// A softmax of the scores of all edges that end at the same node; edges that end nowhere have no part.
__global__ void weights(const int* end, const float* score, float* sum, float* part, int m,
                        int nodes) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    bool ends = (unsigned)end[e] < (unsigned)nodes;
    float v = ends ? expf(score[e]) : 0.f;
    if (ends) atomicAdd(&sum[end[e]], v);
    part[e] = v;
}

__global__ void parts(const int* end, const float* sum, float* part, int m, int nodes) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m && (unsigned)end[e] < (unsigned)nodes) part[e] /= sum[end[e]];
}

extern "C" void edgesoft(const int* end, const float* score, float* part, int m, int nodes) {
    float* sum;
    cudaMalloc(&sum, (size_t)nodes * sizeof(float));
    cudaMemsetAsync(sum, 0, (size_t)nodes * sizeof(float), 0);
    weights<<<(m + 255) / 256, 256>>>(end, score, sum, part, m, nodes);
    parts<<<(m + 255) / 256, 256>>>(end, sum, part, m, nodes);
    cudaFree(sum);
}
