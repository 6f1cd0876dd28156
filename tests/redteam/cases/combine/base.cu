// What experts answered comes back to the tokens that asked: each token has `top` places in their answers, or -1 where
// an expert had no room for it, and a weight for each.
__global__ void combine(const float* answer, const int* place, const float* weight, float* out, int tokens, int top,
                        int dim) {
    size_t e = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (e >= (size_t)tokens * dim) return;
    size_t t = e / dim, c = e % dim;
    float sum = 0.f;
    for (int k = 0; k < top; ++k) {
        int p = place[t * top + k];
        if (p >= 0) sum += weight[t * top + k] * answer[(size_t)p * dim + c];
    }
    out[e] = sum;
}
