// One parameter's step: by the sign of what momentum and gradient say together, none where they say nothing.
__device__ void stepped(float& p, float& m, float g, float rate, float b1, float b2, float decay) {
    float say = fmaf(b1, m, (1.f - b1) * g);
    float sign = say > 0.f ? 1.f : say < 0.f ? -1.f : 0.f;
    p = fmaf(-rate, sign, p * (1.f - rate * decay));
    m = fmaf(b2, m, (1.f - b2) * g);
}

// A step of the optimizer Lion.
__global__ void lion(float* p, float* m, const float* g, int n, float rate, float b1, float b2, float decay) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) stepped(p[i], m[i], g[i], rate, b1, b2, decay);
}
