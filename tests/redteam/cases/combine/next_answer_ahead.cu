// What experts answered comes back to the tokens that asked: each token has `top` places in their answers, or -1 where
// an expert had no room for it, and a weight for each. A block has 16 tokens, a thread some columns of them; while one
// answer is added the next is on its way, over the end of a token, too.
__global__ void combine(const float* answer, const int* place, const float* weight, float* out, int tokens, int top,
                        int dim) {
    size_t first = blockIdx.x * (size_t)16, end = min(first + 16, (size_t)tokens);
    if (first >= end) return;
    for (size_t c = threadIdx.x; c < dim; c += blockDim.x) {
        size_t e = first * top;
        int p = top ? place[e] : -1;
        float v = p >= 0 ? answer[(size_t)p * dim + c] : 0.f;
        for (size_t t = first; t < end; ++t) {
            float sum = 0.f;
            for (int k = 0; k < top; ++k, ++e) {
                int next = place[e + 1];
                float then = next >= 0 ? answer[(size_t)next * dim + c] : 0.f;
                if (p >= 0) sum += weight[e] * v;
                p = next;
                v = then;
            }
            out[t * dim + c] = sum;
        }
    }
}
