// Products of polynomials with n coefficients modulo 3329, where x^n is -1: what goes beyond the last coefficient comes
// back with the other sign.
__global__ void negacyclic(const int* a, const int* b, int* c, int many, int n) {
    // Four coefficients a thread: what one needs of b the next one needs a step later.
    int fours = n / 4;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)many * fours) return;
    size_t row = i / fours * n;
    int k = i % fours * 4;
    const int *f = a + row, *g = b + row;
    auto at = [&](int d) { return d >= 0 ? g[d] : -g[d + n]; };
    int near[4] = {at(k), at(k + 1), at(k + 2), at(k + 3)};
    long long sum[4] = {};
    for (int j = 0; j < n; ++j) {
        int own = f[j];
        for (int t = 0; t < 4; ++t) sum[t] += own * near[t];
        near[3] = near[2], near[2] = near[1], near[1] = near[0];
        if (j + 1 < n) near[0] = at(k - j - 1);
    }
    for (int t = 0; t < 4; ++t) {
        sum[t] %= 3329;
        c[row + k + t] = sum[t] < 0 ? sum[t] + 3329 : sum[t];
    }
}
