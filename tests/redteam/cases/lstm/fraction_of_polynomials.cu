__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }

__device__ __forceinline__ float tangent(float x) {
    x = fminf(fmaxf(x, -4.97f), 4.97f);
    float q = x * x;
    float over = x * (135135.f + q * (17325.f + q * (378.f + q)));
    float under = 135135.f + q * (62370.f + q * (3150.f + q * 28.f));
    return over / under;
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
