// A thread per meter: running window sum in double, one pass over the readings for everything.
#include <cuda_runtime.h>

__device__ inline float demand(float reading) { return fmaxf(reading, 0.0f); }

__global__ void tariff(const float* load, const float* price, float* peak, float* base_load, float* bill,
                       int meters, int n, int w)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= meters) return;
    const float* x = load + (size_t)m * n;
    float hi = 0.0f, lo = INFINITY;
    double sum = 0.0, cost = 0.0;
    float inverse = 1.0f / (float)w;
    for (int i = 0; i < n; ++i) {
        double d = (double)demand(x[i]);
        cost += d * (double)fmaxf(price[i], 0.01f);
        sum += d;
        if (i >= w) sum -= (double)demand(x[i - w]);
        if (i >= w - 1) {
            float mean = (float)sum * inverse;
            hi = fmaxf(hi, mean);
            lo = fminf(lo, mean);
        }
    }
    peak[m] = w <= n ? hi : 0.0f;
    base_load[m] = w <= n ? lo : 0.0f;
    bill[m] = (float)cost;
}
