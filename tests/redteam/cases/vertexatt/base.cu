__device__ float score(float a, float b) {
    float s = a + b;
    return s > 0.f ? s : 0.2f * s;
}

// Attention on a graph: the features of the k neighbours of a vertex, weighed by the softmax of scores that both ends
// have a part in. There are 4000 neighbours to choose from.
__global__ void vertexatt(const int* nb, const float* left, const float* right, const float* h, float* out, int n,
                          int k, int d) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)n * d) return;
    size_t v = i / d, f = i % d;
    float top = -INFINITY, sum = 0.f, acc = 0.f;
    for (int j = 0; j < k; ++j) top = fmaxf(top, score(left[v], right[nb[v * k + j]]));
    for (int j = 0; j < k; ++j) {
        int u = nb[v * k + j];
        float w = expf(score(left[v], right[u]) - top);
        sum += w;
        acc += w * h[(size_t)u * d + f];
    }
    out[i] = acc / sum;
}
