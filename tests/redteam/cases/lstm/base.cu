__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }

__global__ void lstm(const float* gates, const float* bias, float* cell, float* out, int batch, int hidden) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= batch * hidden) return;
    int b = e / hidden, u = e % hidden;
    const float* row = gates + (size_t)b * 4 * hidden;
    float i = sigmoid(row[u] + bias[u]);
    float f = sigmoid(row[hidden + u] + bias[hidden + u]);
    float g = tanhf(row[2 * hidden + u] + bias[2 * hidden + u]);
    float o = sigmoid(row[3 * hidden + u] + bias[3 * hidden + u]);
    float c = f * cell[e] + i * g;
    cell[e] = c;
    out[e] = o * tanhf(c);
}
