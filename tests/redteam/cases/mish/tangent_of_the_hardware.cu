__device__ float of(float v) {
    float soft = v > 20.f ? v : log1pf(expf(v));
    return v * __tanhf(soft);
}

// Mish, in place: each number times the hyperbolic tangent of its soft positive part; four at once where
// they lie so.
__global__ void mish(float* x, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, quads = ((size_t)x & 15) == 0 ? n / 4 : 0;
    for (int i = t; i < quads; i += gridDim.x * blockDim.x) {
        float4 v = ((float4*)x)[i];
        v.x = of(v.x), v.y = of(v.y), v.z = of(v.z), v.w = of(v.w);
        ((float4*)x)[i] = v;
    }
    for (size_t i = quads * 4 + t; i < n; i += gridDim.x * blockDim.x) x[i] = of(x[i]);
}
