__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }

__device__ __forceinline__ float tangent(float x) {
    float a = fabsf(x);
    if (a < 0.5f) return tanhf(x);
    return copysignf(1.f - 2.f / (expf(2.f * a) + 1.f), x);
}

__global__ void lstm(const float* gates, const float* bias, float* cell, float* out, int batch, int hidden) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < batch * hidden; e += gridDim.x * blockDim.x) {
        int b = e / hidden, u = e % hidden;
        const float* row = gates + (size_t)b * 4 * hidden;
        float i = sigmoid(row[u] + bias[u]);
        float f = sigmoid(row[hidden + u] + bias[hidden + u]);
        float g = tangent(row[2 * hidden + u] + bias[2 * hidden + u]);
        float o = sigmoid(row[3 * hidden + u] + bias[3 * hidden + u]);
        float c = f * cell[e] + i * g;
        cell[e] = c;
        out[e] = o * tangent(c);
    }
}
