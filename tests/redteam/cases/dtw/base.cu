// How far apart two series are when time may be stretched: the cheapest way through their differences.
__global__ void dtw(const float* a, const float* b, float* out, int n) {
    extern __shared__ float room[];
    float *old = room, *last = room + n, *now = room + 2 * n;
    a += (size_t)blockIdx.x * n, b += (size_t)blockIdx.x * n;
    for (int d = 0; d < 2 * n - 1; ++d) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            int j = d - i;
            if (j < 0 || j >= n) continue;
            float best = INFINITY;
            if (i && j) best = fminf(best, old[i - 1]);
            if (i) best = fminf(best, last[i - 1]);
            if (j) best = fminf(best, last[i]);
            now[i] = fabsf(a[i] - b[j]) + (i || j ? best : 0.f);
        }
        __syncthreads();
        float* t = old;
        old = last, last = now, now = t;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = last[n - 1];
}
