// How far each row of a is from each of b: 0 sums distances, 1 sums their squares, else the largest.
__global__ void metric(const float* a, const float* b, float* out, int m, int n, int d, int kind) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float s = 0.f;
    for (int k = 0; k < d; ++k) {
        float v = fabsf(a[(size_t)i * d + k] - b[(size_t)j * d + k]);
        if (kind == 0)
            s += v;
        else if (kind == 1)
            s += v * v;
        else
            s = fmaxf(s, v);
    }
    out[(size_t)i * n + j] = s;
}
