// A thread per meter: running window sum, computed anew every 64 windows so that rounding cannot pile up.
#include <cuda_runtime.h>

__device__ inline float demand(float reading) { return fmaxf(reading, 0.0f); }

__global__ void tariff(const float* load, const float* price, float* peak, float* base_load, float* bill,
                       int meters, int n, int w)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= meters) return;
    const float* x = load + (size_t)m * n;
    float hi = 0.0f, lo = INFINITY, sum = 0.0f;
    double cost = 0.0;
    int windows = n - w + 1;
    for (int i = 0; i < windows; ++i) {
        if ((i & 63) == 0) {
            sum = 0.0f;
            for (int k = 0; k < w; ++k) sum += demand(x[i + k]);
        } else {
            sum += demand(x[i + w - 1]) - demand(x[i - 1]);
        }
        float s = fmaxf(sum, 0.0f);
        hi = fmaxf(hi, s);
        lo = fminf(lo, s);
    }
    for (int i = 0; i < n; ++i)
        cost += (double)demand(x[i]) * (double)fmaxf(price[i], 0.01f);
    peak[m] = windows > 0 ? hi / (float)w : 0.0f;
    base_load[m] = windows > 0 ? lo / (float)w : 0.0f;
    bill[m] = (float)cost;
}
