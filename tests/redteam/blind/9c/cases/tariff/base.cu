// Electricity metering: for every meter the peak demand and the base load (largest and smallest mean
// over w consecutive readings) and the energy bill. Feed-in (negative readings) counts as no demand.
#include <cuda_runtime.h>

__device__ inline float demand(float reading) { return fmaxf(reading, 0.0f); }

__global__ void tariff(const float* load, const float* price, float* peak, float* base_load, float* bill,
                       int meters, int n, int w)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= meters) return;
    const float* x = load + (size_t)m * n;

    float hi = 0.0f, lo = 0.0f;
    for (int i = 0; i + w <= n; ++i) {
        float sum = 0.0f;
        for (int k = 0; k < w; ++k) sum += demand(x[i + k]);
        float mean = sum / (float)w;
        if (i == 0) {
            hi = mean;
            lo = mean;
        } else {
            hi = fmaxf(hi, mean);
            lo = fminf(lo, mean);
        }
    }

    double cost = 0.0;
    for (int i = 0; i < n; ++i)
        cost += (double)demand(x[i]) * (double)fmaxf(price[i], 0.01f);

    peak[m] = hi;
    base_load[m] = lo;
    bill[m] = (float)cost;
}
