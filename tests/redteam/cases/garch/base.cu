// Log-likelihood of GARCH(1,1) for many sets of parameters over one series of returns. A thread has a set.

__global__ void garch(const float* back, const float* omega, const float* alpha, const float* beta, float* score,
                      int days, int sets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sets) return;
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
}
