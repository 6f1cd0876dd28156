// A picture with a margin of p on all sides that mirrors it, again and again where it is narrow.
__device__ int mirror(int i, int n) {
    if (n == 1) return 0;
    int period = 2 * n - 2;
    if (i < 0 || i >= n) i = (i % period + period) % period;
    return i < n ? i : period - i;
}

__global__ void mirrorpad(const float* in, float* out, int h, int w, int p) {
    long long wide = w + 2 * p, all = wide * (h + 2 * p);
    // A product instead of a division.
    float inverse = 1.f / wide;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < all; i += (long long)gridDim.x * blockDim.x) {
        long long y = (int)(((float)i + 0.5f) * inverse);
        long long x = i - y * wide;
        out[i] = in[(size_t)mirror((int)y - p, h) * w + mirror((int)x - p, w)];
    }
}
