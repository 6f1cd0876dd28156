// How far each row of students is from its row of teachers: the divergence of their softmax weights. A warp a
// row, on one way over both.
__global__ void distill(const float* teacher, const float* student, float* out, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float *t = teacher + (size_t)r * cols, *s = student + (size_t)r * cols;
    float za = 0.f, zb = 0.f, cross = 0.f;
    for (int c = lane; c < cols; c += 32) {
        float e = expf(t[c]);
        za += e;
        zb += expf(s[c]);
        cross += e * (t[c] - s[c]);
    }
    for (int d = 16; d; d /= 2) {
        za += __shfl_xor_sync(0xffffffffu, za, d);
        zb += __shfl_xor_sync(0xffffffffu, zb, d);
        cross += __shfl_xor_sync(0xffffffffu, cross, d);
    }
    if (lane == 0) out[r] = cross / za - logf(za) + logf(zb);
}
