__global__ void batchstat(const float* x, float* mean, float* rstd, float* running_mean,
                          float* running_var, int images, int channels, int area, float momentum,
                          float eps) {
    __shared__ float means[256], squares[256];
    int c = blockIdx.x, t = threadIdx.x, count = images * area;
    float mu = 0.f, q = 0.f;
    int seen = 0;
    for (int i = t; i < count; i += 256) {
        float value = x[((size_t)(i / area) * channels + c) * area + i % area];
        float d = value - mu;
        mu += d / ++seen;
        q += d * (value - mu);
    }
    means[t] = mu;
    squares[t] = q;
    __syncthreads();
    float weight = 0.5f * count / 256;
    for (int w = 128; w; w /= 2) {
        if (t < w) {
            float d = means[t + w] - means[t];
            squares[t] += squares[t + w] + d * d * weight;
            means[t] += 0.5f * d;
        }
        weight *= 2.f;
        __syncthreads();
    }
    if (t) return;
    float unbiased = count > 1 ? squares[0] / (count - 1) : 0.f;
    mean[c] = means[0];
    rstd[c] = 1.f / sqrtf(squares[0] / count + eps);
    running_mean[c] = (1.f - momentum) * running_mean[c] + momentum * means[0];
    running_var[c] = (1.f - momentum) * running_var[c] + momentum * unbiased;
}
