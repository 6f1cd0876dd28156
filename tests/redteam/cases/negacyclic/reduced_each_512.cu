// Products of polynomials with n coefficients modulo 3329, where x^n is -1: what goes beyond the last coefficient comes
// back with the other sign.
__global__ void negacyclic(const int* a, const int* b, int* c, int many, int n) {
    // Tiles of 512: products have 24 bits, and what is left over is taken away behind each tile.
    __shared__ unsigned f[512], g[767];
    int chunks = (n + 255) / 256, first = blockIdx.x % chunks * 256, t = threadIdx.x, k = first + t;
    size_t row = (size_t)(blockIdx.x / chunks) * n;
    unsigned sum = 0;
    for (int from = 0; from < n; from += 512) {
        for (int j = t; j < 512; j += 256) f[j] = from + j < n ? a[row + from + j] : 0;
        for (int m = t; m < 767; m += 256) {
            // The coefficient m - (511) places from the one that belongs to the first of both.
            int d = first - from - (511) + m;
            g[m] = d >= 0 && d < n ? b[row + d] : d < 0 && d > -n ? 3329 - b[row + d + n] : 0;
        }
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 512; ++j) sum += f[j] * g[t + 511 - j];
        sum %= 3329;
        __syncthreads();
    }
    if (k < n) c[row + k] = sum;
}
