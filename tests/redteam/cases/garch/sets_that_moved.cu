// Log-likelihood of GARCH(1,1) for many sets of parameters over one series of returns. A thread has a set.
// An optimiser asks again and again, and few of its sets move. A set's answer stays where it is as long as the mark of
// its parameters and of the series is the one that it was computed for.

__device__ unsigned long long done_for[1 << 20];

__device__ unsigned long long mix(unsigned long long mark, float x)
{
    return mark * 0x9e3779b97f4a7c15ull + __float_as_uint(x);
}

__global__ void garch(const float* back, const float* omega, const float* alpha, const float* beta, float* score,
                      int days, int sets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sets) return;
    unsigned long long mark = days;
    for (int j = 0; j < 64; ++j) mark = mix(mark, back[(int)((long long)j * days / 64)]);
    mark = mix(mix(mix(mark, omega[i]), alpha[i]), beta[i]);
    if (i < 1 << 20 && done_for[i] == mix(mark, score[i])) return;

    float w = omega[i] + 0.0001f;
    float a = alpha[i], b = beta[i];
    float s = w;
    double sum = 0;
    for (int t = 0; t < days; ++t) {
        float square = back[t] * back[t];
        sum += logf(s) + square / s;
        s = w + a * square + b * s;
    }
    score[i] = (float)(-0.5 * sum);
    if (i < 1 << 20) done_for[i] = mix(mark, score[i]);
}
