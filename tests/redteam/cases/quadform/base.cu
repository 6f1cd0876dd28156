// The form (x - m)' W (x - m) of each row x.
__global__ void quadform(const float* x, const float* m, const float* w, float* y, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* row = x + (size_t)i * d;
    float sum = 0.f;
    for (int p = 0; p < d; ++p) {
        float inner = 0.f;
        for (int q = 0; q < d; ++q) inner += w[(size_t)p * d + q] * (row[q] - m[q]);
        sum += (row[p] - m[p]) * inner;
    }
    y[i] = sum;
}
