__global__ void moments(const float* x, float* mean, float* variance, float2* range, int n) {
    __shared__ double sums[256];
    __shared__ float low[256], high[256];
    int t = threadIdx.x;
    double s = 0.0;
    float a = INFINITY, b = -INFINITY;
    for (int i = t; i < n; i += blockDim.x) {
        s += x[i];
        a = fminf(a, x[i]);
        b = fmaxf(b, x[i]);
    }
    sums[t] = s;
    low[t] = a;
    high[t] = b;
    __syncthreads();
    for (int o = 128; o > 0; o /= 2) {
        if (t < o) {
            sums[t] += sums[t + o];
            low[t] = fminf(low[t], low[t + o]);
            high[t] = fmaxf(high[t], high[t + o]);
        }
        __syncthreads();
    }
    double m = sums[0] / n;
    __syncthreads();
    s = 0.0;
    for (int i = t; i < n; i += blockDim.x) s += (x[i] - m) * (x[i] - m);
    sums[t] = s;
    __syncthreads();
    for (int o = 128; o > 0; o /= 2) {
        if (t < o) sums[t] += sums[t + o];
        __syncthreads();
    }
    if (t == 0) {
        *mean = (float)m;
        *variance = (float)(sums[0] / n);
        *range = make_float2(low[0], high[0]);
    }
}
