// c = a * b + b: `a` lies in memory by its strides, `b` is one number for each second index.
__global__ void bcast(const float* a, const float* b, float* c, int d0, int d1, int d2, int s0,
                      int s1, int s2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= d0 * d1 * d2) return;
    int z = i % d2, y = i / d2 % d1, x = (int)(i * (1.f / (d2 * d1)));
    float v = a[x * s0 + y * s1 + z * s2];
    c[i] = v * b[y] + b[y];
}
