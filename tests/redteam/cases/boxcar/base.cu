// Moving average over up to 2*r+1 samples of a row; at the ends over those that exist.
__global__ void boxcar(const float* x, float* y, int n, int r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* row = x + (size_t)blockIdx.y * n;
    int from = max(i - r, 0), to = min(i + r, n - 1);
    float s = 0.0f;
    for (int j = from; j <= to; j++) s += row[j];
    y[(size_t)blockIdx.y * n + i] = s / (float)(to - from + 1);
}
