// How far apart two series are when time may be stretched: the cheapest way through their differences.
// A diagonal takes the place of the one before the last: each of its cells needs only its neighbour's.
__global__ void dtw(const float* a, const float* b, float* out, int n) {
    extern __shared__ float room[];
    float *old = room, *last = room + n;
    a += (size_t)blockIdx.x * n, b += (size_t)blockIdx.x * n;
    for (int d = 0; d < 2 * n - 1; ++d) {
        int low = max(0, d - n + 1), high = min(d, n - 1);
        for (int i = high - (int)threadIdx.x; i >= low; i -= blockDim.x) {
            int j = d - i;
            float best = INFINITY;
            if (i && j) best = fminf(best, old[i - 1]);
            if (i) best = fminf(best, last[i - 1]);
            if (j) best = fminf(best, last[i]);
            old[i] = fabsf(a[i] - b[j]) + (i || j ? best : 0.f);
        }
        __syncthreads();
        float* t = old;
        old = last, last = t;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = last[n - 1];
}
