struct Span {
    float high, low, most;
};

// What is lost within two spans, of which `b` follows `a`.
__device__ Span followed(Span a, Span b) {
    return {fmaxf(a.high, b.high), fminf(a.low, b.low), fmaxf(fmaxf(a.most, b.most), a.high - b.low)};
}

__device__ Span of_days(const float* value, int from, int to) {
    Span s = {-INFINITY, INFINITY, 0.f};
    for (int d = from; d < to; ++d) {
        float v = value[d];
        s.high = fmaxf(s.high, v);
        s.low = fminf(s.low, v);
        s.most = fmaxf(s.most, s.high - v);
    }
    return s;
}

// The largest loss of each fund. A block has 128 spans of a fund's days, and joins the upper half with the lower one
// until one is left.
__global__ void drawdown(const float* value, float* loss, int n, int days) {
    __shared__ Span span[128];
    const float* mine = value + (size_t)blockIdx.x * days;
    int t = threadIdx.x, length = (days + 127) / 128;
    span[t] = of_days(mine, min(days, t * length), min(days, t * length + length));
    __syncthreads();
    for (int w = 64; w > 0; w /= 2) {
        if (t < w) span[t] = followed(span[t], span[t + w]);
        __syncthreads();
    }
    if (t == 0) loss[blockIdx.x] = span[0].most;
}
