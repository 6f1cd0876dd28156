// Log-likelihood of GARCH(1,1) for many sets of parameters over one series of returns. A warp has a set.
// A variance forgets where it began: each lane has a stretch of days and runs over the 1024 days before it first,
// so that all stretches go at once.

#define FULL 0xffffffffu
#define BEFORE 1024

__global__ void __launch_bounds__(128) garch(const float* back, const float* omega, const float* alpha,
                                             const float* beta, float* score, int days, int sets)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (i >= sets) return;
    float w = omega[i] + 0.0001f;
    float a = alpha[i], b = beta[i];
    int each = (days + 31) / 32;
    int first = min(lane * each, days), end = min(first + each, days);

    float s = w;
    for (int t = max(first - BEFORE, 0); t < first; ++t) s = w + a * (back[t] * back[t]) + b * s;
    double sum = 0;
    for (int t = first; t < end; ++t) {
        float square = back[t] * back[t];
        sum += logf(s) + square / s;
        s = w + a * square + b * s;
    }
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(FULL, sum, step);
    if (lane == 0) score[i] = (float)(-0.5 * sum);
}
