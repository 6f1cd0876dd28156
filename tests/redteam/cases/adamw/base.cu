__global__ void adamw(float* p, float* m, float* v, const float* g, int n, float lr, float beta1,
                      float beta2, float eps, float decay, float fix1, float fix2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float gi = g[i];
    float mi = beta1 * m[i] + (1.f - beta1) * gi;
    float vi = beta2 * v[i] + (1.f - beta2) * gi * gi;
    m[i] = mi;
    v[i] = vi;
    p[i] -= lr * (mi * fix1 / (sqrtf(vi * fix2) + eps) + decay * p[i]);
}
