__device__ float score(float a, float b) {
    float s = a + b;
    return s > 0.f ? s : 0.2f * s;
}

// Attention on a graph: the features of the k neighbours of a vertex, weighed by the softmax of scores that both ends
// have a part in. There are 4000 neighbours to choose from.
// A warp a vertex: lanes share the neighbours for the scores and the features for the sums.
__global__ void vertexatt(const int* nb, const float* left, const float* right, const float* h, float* out, int n,
                          int k, int d) {
    size_t v = blockIdx.x * (size_t)8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (v >= n) return;
    float mine = left[v], top = -INFINITY, sum = 0.f;
    for (int j = lane; j < k; j += 32) top = fmaxf(top, score(mine, right[nb[v * k + j]]));
    for (int s = 16; s; s /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, s));
    for (int j = lane; j < k; j += 32) sum += expf(score(mine, right[nb[v * k + j]]) - top);
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    for (int f = lane; f - lane < d; f += 32) {
        float acc = 0.f;
        for (int first = 0; first < k; first += 32) {
            int u = first + lane < k ? nb[v * k + first + lane] : 0;
            float w = first + lane < k ? expf(score(mine, right[u]) - top) : 0.f;
            for (int j = 0; j < 32 && first + j < k; ++j) {
                int there = __shfl_sync(0xffffffffu, u, j);
                float much = __shfl_sync(0xffffffffu, w, j);
                if (f < d) acc += much * h[(size_t)there * d + f];
            }
        }
        if (f < d) out[v * d + f] = acc / sum;
    }
}
