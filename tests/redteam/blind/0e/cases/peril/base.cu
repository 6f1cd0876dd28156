#include <cuda_runtime.h>
#include <math.h>

// Each site (row) faces n independent perils with probabilities p.
//   logkeep = log of the probability that none strikes = sum log(1 - p)
//   risk    = probability that at least one strikes    = 1 - exp(logkeep)
// Missing probabilities (NaN) and those not above 0 are left out; from 1 on
// a peril is certain.

__global__ void peril(const float* p, float* logkeep, float* risk,
                      int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* pr = p + (size_t)row * n;

    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        float q = pr[i];
        if (!(q > 0.0f)) continue;
        if (q > 1.0f) q = 1.0f;
        sum += log1p(-(double)q);
    }
    logkeep[row] = (float)sum;
    risk[row] = (float)(-expm1(sum));
}
