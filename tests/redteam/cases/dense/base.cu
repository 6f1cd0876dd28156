// A layer of a network: each row by the weights, its biases, and a leaky ramp behind it.
__device__ float ramp(float v, float slope) { return v > 0.f ? v : slope * v; }

__global__ void dense(const float* x, const float* w, const float* bias, float* out, int m, int n, int k, float slope) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= m || c >= n) return;
    float s = bias[c];
    for (int j = 0; j < k; ++j) s += x[(size_t)r * k + j] * w[(size_t)j * n + c];
    out[(size_t)r * n + c] = ramp(s, slope);
}
