// What a layer of low rank adds to its results: y += scale * (x a) b.
__global__ void lora(const float* x, const float* a, const float* b, float* y, int n, int d, int r, int m,
                     float scale) {
    extern __shared__ float mid[];
    size_t row = blockIdx.x;
    for (int j = threadIdx.x; j < r; j += blockDim.x) {
        float sum = 0.f;
        for (int k = 0; k < d; ++k) sum += x[row * d + k] * a[(size_t)k * r + j];
        mid[j] = sum;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < m; c += blockDim.x) {
        float sum = 0.f;
        for (int j = 0; j < r; ++j) sum += mid[j] * b[(size_t)j * m + c];
        y[row * m + c] += scale * sum;
    }
}
