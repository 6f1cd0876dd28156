// How far each row of students is from its row of teachers: the divergence of their softmax weights. A warp
// keeps both rows in its registers.
__global__ void distill(const float* teacher, const float* student, float* out, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float *t = teacher + (size_t)r * cols, *s = student + (size_t)r * cols;
    float a = -INFINITY, b = -INFINITY, za = 0.f, zb = 0.f, cross = 0.f, u[32], v[32];
#pragma unroll
    for (int e = 0; e < 32; ++e) {
        int c = e * 32 + lane;
        u[e] = c < cols ? t[c] : -INFINITY;
        v[e] = c < cols ? s[c] : -INFINITY;
        a = fmaxf(a, u[e]), b = fmaxf(b, v[e]);
    }
    for (int d = 16; d; d /= 2) {
        a = fmaxf(a, __shfl_xor_sync(0xffffffffu, a, d));
        b = fmaxf(b, __shfl_xor_sync(0xffffffffu, b, d));
    }
#pragma unroll
    for (int e = 0; e < 32; ++e)
        if (e * 32 + lane < cols) {
            float p = expf(u[e] - a);
            za += p;
            zb += expf(v[e] - b);
            cross += p * ((u[e] - a) - (v[e] - b));
        }
    for (int d = 16; d; d /= 2) {
        za += __shfl_xor_sync(0xffffffffu, za, d);
        zb += __shfl_xor_sync(0xffffffffu, zb, d);
        cross += __shfl_xor_sync(0xffffffffu, cross, d);
    }
    if (lane == 0) out[r] = cross / za - logf(za) + logf(zb);
}
