// Centred moving average of half-width r, clipped at both ends of the signal.
extern "C" __global__ void gatemean(const float* x, float* y, int n, int r)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    int lo = k - r < 0 ? 0 : k - r;
    int hi = k + r > n - 1 ? n - 1 : k + r;
    float s = 0.0f;
    for (int j = lo; j <= hi; ++j) s += x[j];
    y[k] = s / (float)(hi - lo + 1);
}
