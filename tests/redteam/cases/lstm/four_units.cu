__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }

__device__ __forceinline__ float4 sum(const float* a, const float* b) {
    float4 u = *(const float4*)a, v = __ldg((const float4*)b);
    return make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
}

__device__ __forceinline__ float unit(float i, float f, float g, float o, float& c) {
    c = sigmoid(f) * c + sigmoid(i) * tanhf(g);
    return sigmoid(o) * tanhf(c);
}

__global__ void lstm(const float* gates, const float* bias, float* cell, float* out, int batch, int hidden) {
    int e = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (e >= batch * hidden) return;
    int b = e / hidden, u = e % hidden;
    const float* row = gates + (size_t)b * 4 * hidden + u;
    float4 i = sum(row, bias + u), f = sum(row + hidden, bias + hidden + u);
    float4 g = sum(row + 2 * hidden, bias + 2 * hidden + u), o = sum(row + 3 * hidden, bias + 3 * hidden + u);
    float4 c = *(float4*)(cell + e), to;
    to.x = unit(i.x, f.x, g.x, o.x, c.x);
    to.y = unit(i.y, f.y, g.y, o.y, c.y);
    to.z = unit(i.z, f.z, g.z, o.z, c.z);
    to.w = unit(i.w, f.w, g.w, o.w, c.w);
    *(float4*)(cell + e) = c;
    *(float4*)(out + e) = to;
}
