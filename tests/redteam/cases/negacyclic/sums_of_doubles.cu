// Products of polynomials with n coefficients modulo 3329, where x^n is -1: what goes beyond the last coefficient comes
// back with the other sign.
__global__ void negacyclic(const int* a, const int* b, int* c, int many, int n) {
    // Doubles hold sums of products of 24 bits as long as there are fewer than 2^29 of them.
    __shared__ double f[256], g[511];
    int chunks = (n + 255) / 256, first = blockIdx.x % chunks * 256, t = threadIdx.x, k = first + t;
    size_t row = (size_t)(blockIdx.x / chunks) * n;
    double sum = 0.0;
    for (int from = 0; from < n; from += 256) {
        f[t] = from + t < n ? a[row + from + t] : 0;
        for (int m = t; m < 511; m += 256) {
            int d = first - from - 255 + m;
            g[m] = d >= 0 && d < n ? b[row + d] : d < 0 && d > -n ? -b[row + d + n] : 0;
        }
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; ++j) sum += f[j] * g[t + 255 - j];
        __syncthreads();
    }
    double rest = sum - floor(sum / 3329.0) * 3329.0;
    if (rest < 0.0) rest += 3329.0;
    if (rest >= 3329.0) rest -= 3329.0;
    if (k < n) c[row + k] = (int)rest;
}
