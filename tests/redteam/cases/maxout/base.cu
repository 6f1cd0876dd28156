// A layer of units that are the larger of two: rows of x times two matrices, each with what is added to it.
__global__ void maxout(const float* x, const float* w, const float* b, float* out, int n, int k, int m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)n * m) return;
    const float* own = x + i / m * k;
    int j = i % m;
    const float *first = w + j, *second = first + (size_t)k * m;
    float u = 0.f, v = 0.f;
    for (int c = 0; c < k; ++c) {
        u += own[c] * first[(size_t)c * m];
        v += own[c] * second[(size_t)c * m];
    }
    out[i] = fmaxf(u + b[j], v + b[m + j]);
}
