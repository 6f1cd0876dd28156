// A picture with a margin of p on all sides that mirrors it, again and again where it is narrow.
__device__ int mirror(int i, int n) {
    if (n == 1) return 0;
    int period = 2 * n - 2;
    i = (i % period + period) % period;
    return i < n ? i : period - i;
}

__global__ void mirrorpad(const float* in, float* out, int h, int w, int p) {
    long long wide = w + 2 * p, all = wide * (h + 2 * p);
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= all) return;
    int y = i / wide, x = i % wide;
    out[i] = in[(size_t)mirror(y - p, h) * w + mirror(x - p, w)];
}
