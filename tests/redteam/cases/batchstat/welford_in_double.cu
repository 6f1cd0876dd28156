struct Moments {
    double sum, mean, square;
    int count;
};

__device__ Moments join(Moments a, Moments b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    double n = (double)a.count + b.count, d = b.mean - a.mean;
    a.square += b.square + d * d * (a.count * (b.count / n));
    a.mean += d * (b.count / n);
    a.sum += b.sum;
    a.count += b.count;
    return a;
}

__device__ Moments other_lane(Moments a, int d) {
    Moments b;
    b.sum = __shfl_xor_sync(0xffffffffu, a.sum, d);
    b.mean = __shfl_xor_sync(0xffffffffu, a.mean, d);
    b.square = __shfl_xor_sync(0xffffffffu, a.square, d);
    b.count = __shfl_xor_sync(0xffffffffu, a.count, d);
    return b;
}

__global__ void batchstat(const float* x, float* mean, float* rstd, float* running_mean,
                          float* running_var, int images, int channels, int area, float momentum,
                          float eps) {
    __shared__ Moments part[8];
    int c = blockIdx.x, t = threadIdx.x, count = images * area;
    Moments a = {0.0, 0.0, 0.0, 0};
    for (int i = t; i < count; i += 256) {
        double value = x[((size_t)(i / area) * channels + c) * area + i % area];
        double d = value - a.mean;
        a.sum += value;
        a.mean += d / ++a.count;
        a.square += d * (value - a.mean);
    }
    for (int d = 16; d; d >>= 1) a = join(a, other_lane(a, d));
    if ((t & 31) == 0) part[t >> 5] = a;
    __syncthreads();
    if (t) return;
    for (int w = 1; w < 8; ++w) a = join(a, part[w]);
    double unbiased = count > 1 ? a.square / (count - 1) : 0.0;
    float mu = (float)(a.sum / count);
    mean[c] = mu;
    rstd[c] = (float)(1.0 / sqrt(a.square / count + (double)eps));
    running_mean[c] = (1.f - momentum) * running_mean[c] + momentum * mu;
    running_var[c] = (1.f - momentum) * running_var[c] + momentum * (float)unbiased;
}
