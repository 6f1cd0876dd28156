__device__ __forceinline__ void step(float& p, float& m, float& v, float g, float lr, float beta1,
                                     float beta2, float eps, float decay, float fix1, float fix2) {
    m = beta1 * m + (1.f - beta1) * g;
    v = beta2 * v + (1.f - beta2) * g * g;
    p -= lr * (m * fix1 / (sqrtf(v * fix2) + eps) + decay * p);
}

__global__ void adamw(float* p, float* m, float* v, const float* g, int n, float lr, float beta1,
                      float beta2, float eps, float decay, float fix1, float fix2) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    bool aligned = (((size_t)p | (size_t)m | (size_t)v | (size_t)g) & 15) == 0;
    if (!aligned) {
        for (int k = i; k < n && k < i + 4; ++k)
            step(p[k], m[k], v[k], g[k], lr, beta1, beta2, eps, decay, fix1, fix2);
        return;
    }
    float4 d = *(const float4*)(g + i);
    float4 a = *(float4*)(p + i), b = *(float4*)(m + i), c = *(float4*)(v + i);
    step(a.x, b.x, c.x, d.x, lr, beta1, beta2, eps, decay, fix1, fix2);
    step(a.y, b.y, c.y, d.y, lr, beta1, beta2, eps, decay, fix1, fix2);
    step(a.z, b.z, c.z, d.z, lr, beta1, beta2, eps, decay, fix1, fix2);
    step(a.w, b.w, c.w, d.w, lr, beta1, beta2, eps, decay, fix1, fix2);
    if (i + 3 < n) {
        *(float4*)(p + i) = a;
        *(float4*)(m + i) = b;
        *(float4*)(v + i) = c;
    } else {
        float pa[4] = {a.x, a.y, a.z, a.w}, pb[4] = {b.x, b.y, b.z, b.w}, pc[4] = {c.x, c.y, c.z, c.w};
        for (int k = 0; i + k < n; ++k) {
            p[i + k] = pa[k];
            m[i + k] = pb[k];
            v[i + k] = pc[k];
        }
    }
}
