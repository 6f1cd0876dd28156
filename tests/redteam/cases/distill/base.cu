// How far each row of students is from its row of teachers: the divergence of their softmax weights.
__global__ void distill(const float* teacher, const float* student, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float *t = teacher + (size_t)r * cols, *s = student + (size_t)r * cols;
    float a = -INFINITY, b = -INFINITY, za = 0.f, zb = 0.f, cross = 0.f;
    for (int c = 0; c < cols; ++c) a = fmaxf(a, t[c]), b = fmaxf(b, s[c]);
    for (int c = 0; c < cols; ++c) {
        float e = expf(t[c] - a);
        za += e;
        zb += expf(s[c] - b);
        cross += e * ((t[c] - a) - (s[c] - b));
    }
    out[r] = cross / za - logf(za) + logf(zb);
}
