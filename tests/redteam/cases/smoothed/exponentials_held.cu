extern __shared__ float held[];

__device__ float of_block(float v, bool largest) {
    __shared__ float part[8];
    for (int d = 16; d; d >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, v, d);
        v = largest ? fmaxf(v, other) : v + other;
    }
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < 8; ++w) v = largest ? fmaxf(v, part[w]) : v + part[w];
    __syncthreads();
    return v;
}

__global__ void smoothed(const float* x, const int* label, float* loss, float* dx, int rows, int cols,
                         float smooth) {
    int r = blockIdx.x, t = threadIdx.x;
    const float* row = x + (size_t)r * cols;
    bool fits = cols <= 96 * 1024 / 4;
    float m = -INFINITY, s = 0.f, u = 0.f;
    for (int c = t; c < cols; c += 256) {
        float value = row[c];
        if (fits) held[c] = value;
        m = fmaxf(m, value);
    }
    m = of_block(m, true);
    for (int c = t; c < cols; c += 256) {
        float value = (fits ? held[c] : row[c]) - m, e = expf(value);
        if (fits) held[c] = e;
        s += e;
        u += value;
    }
    s = of_block(s, false);
    u = of_block(u, false);
    int k = label[r];
    bool used = k >= 0 && k < cols;
    if (t == 0) loss[r] = used ? logf(s) - (1.f - smooth) * (row[k] - m) - smooth * (u / cols) : 0.f;
    for (int c = t; c < cols; c += 256) {
        float target = smooth / cols + (c == k ? 1.f - smooth : 0.f);
        float e = fits ? held[c] : expf(row[c] - m);
        __stcs(dx + (size_t)r * cols + c, used ? e / s - target : 0.f);
    }
}
