// A sum with what its roundings lose; and the plain sum, for what is too large for that.
struct Sum {
    float high = 0.f, low = 0.f, plain = 0.f;
    __device__ void add(float v) {
        plain += v;
        float y = v - low, t = high + y;
        low = (t - high) - y;
        high = t;
    }
    __device__ float all() {
        float h = high, l = -low, p = plain;
        for (int w = 16; w; w /= 2) {
            float oh = __shfl_xor_sync(0xffffffffu, h, w), ol = __shfl_xor_sync(0xffffffffu, l, w);
            p += __shfl_xor_sync(0xffffffffu, p, w);
            // Both lanes of a pair take the same one for the first.
            float a = threadIdx.x & w ? oh : h, b = threadIdx.x & w ? h : oh;
            float t = a + b, z = t - a;
            l = (l + ol) + ((a - (t - z)) + (b - z));
            h = t;
        }
        float v = h + l;
        return isfinite(v) ? v : p;
    }
};

// How far the numbers of a row are from their mean, on average. A warp has a row.
__global__ void meandev(const float* x, float* out, int rows, int cols) {
    size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* own = x + row * cols;
    Sum sum, far;
    for (size_t c = lane; c < cols; c += 32) sum.add(own[c]);
    float mean = sum.all() / cols;
    for (size_t c = lane; c < cols; c += 32) far.add(fabsf(own[c] - mean));
    float v = far.all();
    if (lane == 0) out[row] = v / cols;
}
