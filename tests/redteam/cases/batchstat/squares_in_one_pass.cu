__global__ void batchstat(const float* x, float* mean, float* rstd, float* running_mean,
                          float* running_var, int images, int channels, int area, float momentum,
                          float eps) {
    __shared__ float sums[8], squares[8];
    int c = blockIdx.x, t = threadIdx.x, count = images * area;
    float s = 0.f, q = 0.f;
    for (int i = t; i < count; i += 256) {
        float value = x[((size_t)(i / area) * channels + c) * area + i % area];
        s += value;
        q = fmaf(value, value, q);
    }
    for (int d = 16; d; d >>= 1) {
        s += __shfl_xor_sync(0xffffffffu, s, d);
        q += __shfl_xor_sync(0xffffffffu, q, d);
    }
    if ((t & 31) == 0) {
        sums[t >> 5] = s;
        squares[t >> 5] = q;
    }
    __syncthreads();
    if (t) return;
    for (int w = 1; w < 8; ++w) {
        s += sums[w];
        q += squares[w];
    }
    float mu = s / count, variance = fmaxf(q / count - mu * mu, 0.f);
    float unbiased = count > 1 ? variance * ((float)count / (count - 1)) : 0.f;
    mean[c] = mu;
    rstd[c] = 1.f / sqrtf(variance + eps);
    running_mean[c] = (1.f - momentum) * running_mean[c] + momentum * mu;
    running_var[c] = (1.f - momentum) * running_var[c] + momentum * unbiased;
}
