// A thread per meter, windows in groups of w: running sums from the end of one group and from the start of
// the next put every window together from two parts (van Herk), the first part kept in a local buffer; no subtraction.
#include <cuda_runtime.h>

__device__ inline float demand(float reading) { return fmaxf(reading, 0.0f); }

#define KEEP 64

__global__ void tariff(const float* load, const float* price, float* peak, float* base_load, float* bill,
                       int meters, int n, int w)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= meters) return;
    const float* x = load + (size_t)m * n;
    float hi = 0.0f, lo = INFINITY;
    int windows = n - w + 1;
    int g = w < KEEP ? w : KEEP;          // windows of a group: they all hold readings first+g-1 .. first+w-1
    float back[KEEP];
    for (int first = 0; first < windows; first += g) {
        float sum = 0.0f;
        for (int k = w - 1; k >= g; --k) sum += demand(x[first + k]);
        for (int k = g - 1; k >= 0; --k) {
            sum += demand(x[first + k]);
            back[k] = sum;
        }
        float front = 0.0f;
        for (int k = 0; k < g && first + k < windows; ++k) {
            if (k > 0) front += demand(x[first + w + k - 1]);
            float s = back[k] + front;
            hi = fmaxf(hi, s);
            lo = fminf(lo, s);
        }
    }
    double c0 = 0.0, c1 = 0.0;
    int i = 0;
    for (; i + 1 < n; i += 2) {
        c0 += (double)demand(x[i]) * (double)fmaxf(price[i], 0.01f);
        c1 += (double)demand(x[i + 1]) * (double)fmaxf(price[i + 1], 0.01f);
    }
    if (i < n) c0 += (double)demand(x[i]) * (double)fmaxf(price[i], 0.01f);
    peak[m] = windows > 0 ? hi / (float)w : 0.0f;
    base_load[m] = windows > 0 ? lo / (float)w : 0.0f;
    bill[m] = (float)(c0 + c1);
}
