// Moving average over up to 2*r+1 samples of a row; at the ends over those that exist.
// A thread makes 16 neighbours: one sample enters, one leaves.
__global__ void boxcar(const float* x, float* y, int n, int r)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    if (first >= n) return;
    const float* row = x + (size_t)blockIdx.y * n;
    float* out = y + (size_t)blockIdx.y * n;
    float s = 0.0f;
    for (int j = max(first - r, 0); j <= min(first + r, n - 1); j++) s += row[j];
    for (int i = first; i < min(first + 16, n); i++) {
        int from = max(i - r, 0), to = min(i + r, n - 1);
        out[i] = s / (float)(to - from + 1);
        if (i + 1 + r < n) s += row[i + 1 + r];
        if (i - r >= 0) s -= row[i - r];
    }
}
