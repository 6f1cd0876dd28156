// A warp for a row. Blocks whose rows lie wholly inside test nothing.
__global__ void banded(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int n,
                       int k) {
    int lane = threadIdx.x % 32, first = blockIdx.x * 8, i = first + threadIdx.x / 32;
    if (i >= n) return;
    int width = 2 * k + 1;
    const float* row = a + (size_t)i * width;
    float s = 0.f;
    if (first >= k && (long long)first + 7 + k < n) {
        for (int j = lane; j < width; j += 32) s = fmaf(row[j], x[i - k + j], s);
    } else {
        for (int j = lane; j < width; j += 32) {
            int c = i + j - k;
            if (c >= 0 && c < n) s = fmaf(row[j], x[c], s);
        }
    }
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) y[i] = s;
}
