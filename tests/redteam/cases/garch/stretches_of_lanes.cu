// Log-likelihood of GARCH(1,1) for many sets of parameters over one series of returns. A warp has a set.
// The variance is a linear recurrence: each lane finds what its stretch of days does to it, a scan over the lanes gives
// every stretch its beginning, and the lanes go over their days once more. Where anything is not finite, as infinity
// times a decayed power is, the first lane goes the serial way.

#define FULL 0xffffffffu

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

    // s becomes scale * s + shift.
    float scale = 1, shift = 0;
    for (int t = first; t < end; ++t) {
        float x = back[t];
        shift = w + a * (x * x) + b * shift;
        scale *= b;
    }
    for (int step = 1; step < 32; step *= 2) {
        float before = __shfl_up_sync(FULL, scale, step);
        float there = __shfl_up_sync(FULL, shift, step);
        if (lane >= step) {
            shift += scale * there;
            scale *= before;
        }
    }
    float s = scale * w + shift;
    s = __shfl_up_sync(FULL, s, 1);
    if (lane == 0) s = w;

    double sum = 0;
    for (int t = first; t < end; ++t) {
        float square = back[t] * back[t];
        sum += logf(s) + square / s;
        s = w + a * square + b * s;
    }
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(FULL, sum, step);
    if (lane) return;
    if (!(fabs(sum) < 1e300)) {
        s = w;
        sum = 0;
        for (int t = 0; t < days; ++t) {
            float square = back[t] * back[t];
            sum += logf(s) + square / s;
            s = w + a * square + b * s;
        }
    }
    score[i] = (float)(-0.5 * sum);
}
