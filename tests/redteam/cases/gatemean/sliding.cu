// Each thread slides one window over 32 outputs. The running sum is kept in double, so no drift builds up.
#define RUN 32
extern "C" __global__ void gatemean(const float* __restrict__ x, float* __restrict__ y, int n, int r)
{
    long long start = (long long)RUN * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (start >= n) return;
    int k = (int)start;
    int stop = min(n, k + RUN);
    int lo = max(k - r, 0), hi = min(k + r, n - 1);
    double s = 0.0;
    for (int j = lo; j <= hi; ++j) s += x[j];
    y[k] = (float)(s / (hi - lo + 1));
    for (++k; k < stop; ++k) {
        if (k + r <= n - 1) { s += x[k + r]; hi = k + r; }
        if (k - r - 1 >= 0) { s -= x[k - r - 1]; lo = k - r; }
        y[k] = (float)(s / (hi - lo + 1));
    }
}
