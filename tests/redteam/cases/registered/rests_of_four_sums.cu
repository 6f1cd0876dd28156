// Where a cloud's points would go on a model, with sums that keep what was rounded off.
__device__ float squared(float x, float y, float z, const float* q) {
    float a = x - q[0], b = y - q[1], c = z - q[2];
    return fmaf(a, a, fmaf(b, b, c * c));
}

__device__ void keep(float& sum, float& rest, float v) {
    float y = v - rest, t = sum + y;
    rest = (t - sum) - y;
    sum = t;
}

__global__ void registered(const float* cloud, const float* model, float* out, int n, int m, float sharp) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = cloud[3 * (size_t)i], y = cloud[3 * (size_t)i + 1], z = cloud[3 * (size_t)i + 2];
    float nearest = INFINITY;
    for (int k = 0; k < m; ++k) nearest = fminf(nearest, squared(x, y, z, model + 3 * (size_t)k));
    float sum[4] = {}, rest[4] = {};
#pragma unroll 4
    for (int k = 0; k < m; ++k) {
        const float* q = model + 3 * (size_t)k;
        float w = expf((nearest - squared(x, y, z, q)) * sharp);
        keep(sum[0], rest[0], w);
        for (int e = 0; e < 3; ++e) keep(sum[1 + e], rest[1 + e], w * q[e]);
    }
    for (int e = 0; e < 3; ++e) out[3 * (size_t)i + e] = sum[1 + e] / sum[0];
}
