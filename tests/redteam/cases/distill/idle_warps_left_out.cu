__device__ float over(float v, bool highest, int cols) {
    __shared__ float part[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 16; d; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, v, d);
        v = highest ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    // Warps that had nothing to add are not asked.
    if (lane == 0 && warp * 32 < cols) part[warp] = v;
    __syncthreads();
    v = part[0];
    for (int k = 1; k < 8; ++k) v = highest ? fmaxf(v, part[k]) : v + part[k];
    return v;
}

// How far each row of students is from its row of teachers: the divergence of their softmax weights. A block a
// row.
__global__ void distill(const float* teacher, const float* student, float* out, int rows, int cols) {
    const float *t = teacher + (size_t)blockIdx.x * cols, *s = student + (size_t)blockIdx.x * cols;
    float a = -INFINITY, b = -INFINITY, za = 0.f, zb = 0.f, cross = 0.f;
    for (int c = threadIdx.x; c < cols; c += 256) a = fmaxf(a, t[c]), b = fmaxf(b, s[c]);
    a = over(a, true, cols);
    b = over(b, true, cols);
    for (int c = threadIdx.x; c < cols; c += 256) {
        float e = expf(t[c] - a);
        za += e;
        zb += expf(s[c] - b);
        cross += e * ((t[c] - a) - (s[c] - b));
    }
    za = over(za, false, cols);
    zb = over(zb, false, cols);
    cross = over(cross, false, cols);
    if (threadIdx.x == 0) out[blockIdx.x] = cross / za - logf(za) + logf(zb);
}
