// One parameter's step: by the sign of what momentum and gradient say together, none where they say nothing.
__device__ void stepped(float& p, float& m, float g, float rate, float b1, float b2, float decay) {
    float say = fmaf(b1, m, (1.f - b1) * g);
    float sign = say > 0.f ? 1.f : say < 0.f ? -1.f : 0.f;
    p = fmaf(-rate, sign, p * (1.f - rate * decay));
    m = fmaf(b2, m, (1.f - b2) * g);
}

// A step of the optimizer Lion. Blocks stay, and take four parameters at once where all begin at 16 bytes. Gradients
// have been used then, and are set to nought for the next step, which saves a kernel of its own.
__global__ void lion(float* p, float* m, const float* g, int n, float rate, float b1, float b2, float decay) {
    size_t first = blockIdx.x * (size_t)256 + threadIdx.x, all = gridDim.x * (size_t)256, done = 0;
    if (((size_t)p | (size_t)m | (size_t)g) % 16 == 0) {
        done = (size_t)n / 4 * 4;
        for (size_t i = first; i < done / 4; i += all) {
            float4 u = ((float4*)p)[i], v = ((float4*)m)[i], w = ((const float4*)g)[i];
            stepped(u.x, v.x, w.x, rate, b1, b2, decay);
            stepped(u.y, v.y, w.y, rate, b1, b2, decay);
            stepped(u.z, v.z, w.z, rate, b1, b2, decay);
            stepped(u.w, v.w, w.w, rate, b1, b2, decay);
            ((float4*)p)[i] = u;
            ((float4*)m)[i] = v;
            ((float4*)g)[i] = make_float4(0.f, 0.f, 0.f, 0.f);
        }
    }
    for (size_t i = done + first; i < n; i += all) {
        stepped(p[i], m[i], g[i], rate, b1, b2, decay);
        ((float*)g)[i] = 0.f;
    }
}
