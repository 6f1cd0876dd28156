// Log-likelihood of GARCH(1,1) for many sets of parameters over one series of returns. A thread has a set.
// Logarithms are taken of products of eight variances: mantissas are multiplied, exponents added as integers, so that
// the product stays between 1 and 256 whatever the returns are. What has no ordinary exponent takes the plain way.

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
            int exponent = 0;
            double plain = 0;
            int end = min(j + 8, here);
            for (int t = j; t < end; ++t) {
                int bits = __float_as_int(s);
                int e = bits >> 23;
                if (e > 0 && e < 255) {
                    exponent += e - 127;
                    product *= __int_as_float((bits & 0x7fffff) | 0x3f800000);
                } else {
                    plain += logf(s);
                }
                float square = squares[t];
                plain += square / s;
                s = w + a * square + b * s;
            }
            sum += plain + logf(product) + exponent * 0.6931471805599453;
        }
    }
    if (i < sets) score[i] = (float)(-0.5 * sum);
}
