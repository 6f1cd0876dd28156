__global__ void batchstat(const float* x, float* mean, float* rstd, float* running_mean,
                          float* running_var, int images, int channels, int area, float momentum,
                          float eps) {
    __shared__ float part[256];
    int c = blockIdx.x, t = threadIdx.x, count = images * area;
    float s = 0.f;
    for (int i = t; i < count; i += 256) s += x[((size_t)(i / area) * channels + c) * area + i % area];
    part[t] = s;
    __syncthreads();
    for (int w = 128; w >= 32; w /= 2) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    if (t < 32) {
        float v = part[t];
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
        if (t == 0) part[0] = v;
    }
    __syncthreads();
    float mu = part[0] / count, q = 0.f;
    __syncthreads();
    for (int i = t; i < count; i += 256) {
        float d = x[((size_t)(i / area) * channels + c) * area + i % area] - mu;
        q += d * d;
    }
    part[t] = q;
    __syncthreads();
    for (int w = 128; w >= 32; w /= 2) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    if (t < 32) {
        float v = part[t];
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
        if (t == 0) part[0] = v;
    }
    __syncthreads();
    if (t) return;
    float variance = part[0] / count;
    mean[c] = mu;
    rstd[c] = 1.f / sqrtf(variance + eps);
    running_mean[c] = (1.f - momentum) * running_mean[c] + momentum * mu;
    running_var[c] = (1.f - momentum) * running_var[c] + momentum * variance;
}
