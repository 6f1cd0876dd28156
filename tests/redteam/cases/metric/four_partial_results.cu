// Four independent results a thread, so that additions need not wait for each other.
__device__ __forceinline__ float joined(float s, float v, int kind) {
    v = fabsf(v);
    return kind == 0 ? s + v : kind == 1 ? fmaf(v, v, s) : fmaxf(s, v);
}

__global__ void metric(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                       int m, int n, int d, int kind) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    const float *p = a + (size_t)i * d, *q = b + (size_t)j * d;
    float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
    int k = 0;
    for (; k + 3 < d; k += 4) {
        s0 = joined(s0, p[k] - q[k], kind);
        s1 = joined(s1, p[k + 1] - q[k + 1], kind);
        s2 = joined(s2, p[k + 2] - q[k + 2], kind);
        s3 = joined(s3, p[k + 3] - q[k + 3], kind);
    }
    for (; k < d; ++k) s0 = joined(s0, p[k] - q[k], kind);
    out[(size_t)i * n + j] = (s0 + s1) + (s2 + s3);
}
