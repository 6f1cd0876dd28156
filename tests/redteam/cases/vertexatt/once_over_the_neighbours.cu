__device__ float score(float a, float b) {
    float s = a + b;
    return s > 0.f ? s : 0.2f * s;
}

// Attention on a graph: the features of the k neighbours of a vertex, weighed by the softmax of scores that both ends
// have a part in. There are 4000 neighbours to choose from.
// A warp a vertex, a lane two features; sums follow the highest score that has been met.
__global__ void vertexatt(const int* nb, const float* left, const float* right, const float* h, float* out, int n,
                          int k, int d) {
    size_t v = blockIdx.x * (size_t)8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (v >= n) return;
    float mine = left[v];
    for (int f = lane; f < d; f += 64) {
        int g = f + 32 < d ? f + 32 : f;
        float top = -INFINITY, sum = 0.f, acc = 0.f, other = 0.f;
        for (int j = 0; j < k; ++j) {
            int u = nb[v * k + j];
            float e = score(mine, right[u]), up = fmaxf(top, e);
            // Nothing has been met as long as all are minus infinity.
            float keep = up == top ? 1.f : expf(top - up), w = e == -INFINITY ? 0.f : expf(e - up);
            sum = sum * keep + w;
            acc = acc * keep + w * h[(size_t)u * d + f];
            other = other * keep + w * h[(size_t)u * d + g];
            top = up;
        }
        out[v * d + f] = acc / sum;
        if (g != f) out[v * d + g] = other / sum;
    }
}
