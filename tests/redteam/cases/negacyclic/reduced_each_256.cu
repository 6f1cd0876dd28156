// Products of polynomials with n coefficients modulo 3329, where x^n is -1: what goes beyond the last coefficient comes
// back with the other sign.
__global__ void negacyclic(const int* a, const int* b, int* c, int many, int n) {
    // Tiles of 256: so many products of numbers up to 3328 and 3329 fit into 32 bits.
    __shared__ unsigned f[256], g[511];
    int chunks = (n + 255) / 256, first = blockIdx.x % chunks * 256, t = threadIdx.x, k = first + t;
    size_t row = (size_t)(blockIdx.x / chunks) * n;
    unsigned sum = 0;
    for (int from = 0; from < n; from += 256) {
        for (int j = t; j < 256; j += 256) f[j] = from + j < n ? a[row + from + j] : 0;
        for (int m = t; m < 511; m += 256) {
            // The coefficient m - (255) places from the one that belongs to the first of both.
            int d = first - from - (255) + m;
            g[m] = d >= 0 && d < n ? b[row + d] : d < 0 && d > -n ? 3329 - b[row + d + n] : 0;
        }
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; ++j) sum += f[j] * g[t + 255 - j];
        sum %= 3329;
        __syncthreads();
    }
    if (k < n) c[row + k] = sum;
}
