struct Moments {
    double count, mean, squares;
    float low, high;
};

__device__ Moments merge(const Moments& a, const Moments& b) {
    const double n = a.count + b.count;
    if (n == 0.0) return a;
    const double gap = b.mean - a.mean;
    return {n, a.mean + gap * b.count / n, a.squares + b.squares + gap * gap * a.count * b.count / n,
            fminf(a.low, b.low), fmaxf(a.high, b.high)};
}

__global__ void moments(const float* __restrict__ x, float* mean, float* variance, float2* range,
                        int n) {
    __shared__ Moments held[512];
    Moments mine = {0.0, 0.0, 0.0, INFINITY, -INFINITY};
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float v = x[i];
        mine.count += 1.0;
        const double gap = v - mine.mean;
        mine.mean += gap / mine.count;
        mine.squares += gap * (v - mine.mean);
        mine.low = fminf(mine.low, v);
        mine.high = fmaxf(mine.high, v);
    }
    held[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned o = blockDim.x / 2; o > 0; o /= 2) {
        if (threadIdx.x < o) held[threadIdx.x] = merge(held[threadIdx.x], held[threadIdx.x + o]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *mean = (float)held[0].mean;
        *variance = (float)(held[0].squares / held[0].count);
        *range = make_float2(held[0].low, held[0].high);
    }
}
