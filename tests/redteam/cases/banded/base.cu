// The product of a matrix of 2 * k + 1 diagonals and a vector; a row of it holds its diagonals.
__global__ void banded(const float* a, const float* x, float* y, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int width = 2 * k + 1;
    float s = 0.f;
    for (int j = 0; j < width; ++j) {
        int c = i + j - k;
        if (c >= 0 && c < n) s += a[(size_t)i * width + j] * x[c];
    }
    y[i] = s;
}
