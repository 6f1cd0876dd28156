// Ranks of a graph's nodes by power iteration: sparse rows times a vector, as often as it takes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t error = (call);                                            \
        if (error != cudaSuccess) {                                            \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));     \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

__global__ void spread(const int *first, const int *from, const float *share, const float *rank,
                       float *next, int nodes, float damping)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;

    float sum = 0.0f;
    for (int e = first[node]; e < first[node + 1]; e++) {
        sum += share[e] * rank[from[e]];
    }
    next[node] = (1.0f - damping) / nodes + damping * sum;
}

int main(int argc, char **argv)
{
    const int nodes = argc > 1 ? atoi(argv[1]) : 200000, rounds = 20;
    std::vector<int> first(nodes + 1), from, out(nodes, 0);
    unsigned seed = 5;
    for (int node = 0; node < nodes; node++) {
        first[node] = (int)from.size();
        seed = seed * 1664525u + 1013904223u;
        const int links = 16 + (int)(seed >> 27);
        for (int l = 0; l < links; l++) {
            seed = seed * 1664525u + 1013904223u;
            from.push_back((int)((seed >> 8) % (unsigned)nodes));
            out[from.back()]++;
        }
    }
    first[nodes] = (int)from.size();
    std::vector<float> share(from.size()), rank(nodes, 1.0f / nodes);
    for (size_t e = 0; e < from.size(); e++) share[e] = 1.0f / out[from[e]];

    int *dFirst, *dFrom;
    float *dShare, *dRank, *dNext;
    CHECK(cudaMalloc(&dFirst, first.size() * sizeof(int)));
    CHECK(cudaMalloc(&dFrom, from.size() * sizeof(int)));
    CHECK(cudaMalloc(&dShare, share.size() * sizeof(float)));
    CHECK(cudaMallocManaged(&dRank, nodes * sizeof(float)));
    CHECK(cudaMallocManaged(&dNext, nodes * sizeof(float)));
    CHECK(cudaMemcpy(dFirst, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dFrom, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dShare, share.data(), share.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dRank, rank.data(), nodes * sizeof(float), cudaMemcpyHostToDevice));
    for (int round = 0; round < rounds; round++) {
        spread<<<(nodes + 255) / 256, 256>>>(dFirst, dFrom, dShare, dRank, dNext, nodes, 0.85f);
        CHECK(cudaGetLastError());
        std::swap(dRank, dNext);
    }
    CHECK(cudaDeviceSynchronize());
    double sum = 0, largest = 0;
    for (int node = 0; node < nodes; node++) {
        sum += dRank[node];
        largest = fmax(largest, dRank[node]);
    }
    printf("ranks sum to %.4f, the largest is %.3g\n", sum, largest);
    return sum > 0.5 && sum < 1.01 ? 0 : 1;
}
