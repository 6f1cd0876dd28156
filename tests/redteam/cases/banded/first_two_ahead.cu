// A thread for a row, its next two diagonals on their way while one is used.
__global__ void banded(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int n,
                       int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int width = 2 * k + 1;
    const float* row = a + (size_t)i * width;
    float s = 0.f, now = row[0], next = row[1];
    for (int j = 0; j < width; ++j) {
        float later = j + 2 < width ? row[j + 2] : 0.f;
        int c = i + j - k;
        if (c >= 0 && c < n) s = fmaf(now, x[c], s);
        now = next;
        next = later;
    }
    y[i] = s;
}
