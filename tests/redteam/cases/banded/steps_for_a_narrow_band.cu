// A warp for a row; lanes without a diagonal are spared when the parts are joined.
__global__ void banded(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int n,
                       int k) {
    int lane = threadIdx.x % 32, i = blockIdx.x * 8 + threadIdx.x / 32;
    if (i >= n) return;
    int width = 2 * k + 1;
    const float* row = a + (size_t)i * width;
    float s = 0.f;
    for (int j = lane; j < width; j += 32) {
        int c = i + j - k;
        if (c >= 0 && c < n) s = fmaf(row[j], x[c], s);
    }
    for (int d = min(width, 32) / 2; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (lane == 0) y[i] = s;
}
