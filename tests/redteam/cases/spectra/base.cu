// How alike measured spectra are to those of a library: products of their lines, times a weight of each.
__global__ void spectra(const float* measured, const float* library, const float* trust, const float* purity, float* score,
                        int n, int m, int lines) {
    size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= (size_t)n * m) return;
    int i = e / m, j = e % m;
    float sum = 0.f;
    for (int l = 0; l < lines; ++l) sum += measured[(size_t)i * lines + l] * library[(size_t)j * lines + l];
    score[e] = sum * trust[i] * purity[j];
}
