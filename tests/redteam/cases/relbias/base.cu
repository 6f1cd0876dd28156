// Scores of queries and keys before a softmax: their products, and a bias for how far apart they are, which is the same
// from `span` places on.
__global__ void relbias(const float* q, const float* k, const float* bias, float* out, int m, int n, int d, int span) {
    size_t e = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (e >= (size_t)m * n) return;
    size_t i = e / n, j = e % n;
    float sum = 0.f;
    for (int c = 0; c < d; ++c) sum += q[i * d + c] * k[j * d + c];
    long long apart = min(max((long long)j - (long long)i, -(long long)span), (long long)span);
    out[e] = sum + bias[apart + span];
}
