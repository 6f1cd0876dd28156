// Products of polynomials with n coefficients modulo 3329, where x^n is -1: what goes beyond the last coefficient comes
// back with the other sign.
__global__ void negacyclic(const int* a, const int* b, int* c, int many, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)many * n) return;
    const int *f = a + i / n * n, *g = b + i / n * n;
    int k = i % n;
    long long sum = 0;
    for (int j = 0; j < n; ++j) {
        long long product = (long long)f[j] * g[j <= k ? k - j : n + k - j];
        sum += j <= k ? product : -product;
    }
    sum %= 3329;
    c[i] = sum < 0 ? sum + 3329 : sum;
}
