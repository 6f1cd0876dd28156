__global__ void adamw(float* p, float* m, float* v, const float* g, int n, float lr, float beta1,
                      float beta2, float eps, float decay, float fix1, float fix2) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float gi = __ldcs(g + i);
        float mi = fmaf(beta1, m[i], (1.f - beta1) * gi);
        float vi = fmaf(beta2, v[i], (1.f - beta2) * gi * gi);
        m[i] = mi;
        v[i] = vi;
        p[i] -= lr * fmaf(mi * fix1, rsqrtf(fmaf(vi, fix2, eps * eps)), decay * p[i]);
    }
}
