// Log-likelihood of GARCH(1,1) for many sets of parameters over one series of returns. A thread has a set.
// Logarithms are taken of products of eight variances, as the logarithm is most of the work. The variance is at least
// omega's floor of 0.0001, whose eighth power is a normal number.

#define TILE 256

__global__ void __launch_bounds__(256) garch(const float* back, const float* omega, const float* alpha,
                                             const float* beta, float* score, int days, int sets)
{
    __shared__ float squares[TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = min(i, sets - 1);
    float w = omega[mine] + 0.0001f;
    float a = alpha[mine], b = beta[mine];
    float s = w;
    double sum = 0;
    for (int start = 0; start < days; start += TILE) {
        int here = min(TILE, days - start);
        __syncthreads();
        for (int j = threadIdx.x; j < here; j += blockDim.x) {
            float x = back[start + j];
            squares[j] = x * x;
        }
        __syncthreads();
        for (int j = 0; j < here; j += 8) {
            float product = 1;
            float plain = 0;
            int end = min(j + 8, here);
            for (int t = j; t < end; ++t) {
                product *= s;
                float square = squares[t];
                plain += square / s;
                s = w + a * square + b * s;
            }
            sum += (double)plain + logf(product);
        }
    }
    if (i < sets) score[i] = (float)(-0.5 * sum);
}
