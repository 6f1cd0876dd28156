__device__ float score(float a, float b) {
    float s = a + b;
    return s > 0.f ? s : 0.2f * s;
}

// Attention on a graph: the features of the k neighbours of a vertex, weighed by the softmax of scores that both ends
// have a part in. There are 4000 neighbours to choose from.
// A thread has four features: a neighbour is looked up once for them.
__global__ void vertexatt(const int* nb, const float* left, const float* right, const float* h, float* out, int n,
                          int k, int d) {
    int fours = (d + 3) / 4;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)n * fours) return;
    size_t v = i / fours, f = i % fours * 4;
    float mine = left[v], top = -INFINITY, sum = 0.f, acc[4] = {};
    for (int j = 0; j < k; ++j) top = fmaxf(top, score(mine, right[nb[v * k + j]]));
    for (int j = 0; j < k; ++j) {
        int u = nb[v * k + j];
        float w = expf(score(mine, right[u]) - top);
        sum += w;
        const float* from = h + (size_t)u * d + f;
#pragma unroll
        for (int q = 0; q < 4; ++q) acc[q] += w * from[q];
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) out[v * d + f + q] = acc[q] / sum;
}
