// Where a cloud's points would go on a model: each to the mean of the model's points, which count the less the farther
// they are.
__device__ float squared(float x, float y, float z, const float* q) {
    float a = x - q[0], b = y - q[1], c = z - q[2];
    return fmaf(a, a, fmaf(b, b, c * c));
}

__global__ void registered(const float* cloud, const float* model, float* out, int n, int m, float sharp) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = cloud[3 * (size_t)i], y = cloud[3 * (size_t)i + 1], z = cloud[3 * (size_t)i + 2];
    float nearest = INFINITY;
    for (int k = 0; k < m; ++k) nearest = fminf(nearest, squared(x, y, z, model + 3 * (size_t)k));
    float all = 0.f, a = 0.f, b = 0.f, c = 0.f;
    for (int k = 0; k < m; ++k) {
        const float* q = model + 3 * (size_t)k;
        float w = expf((nearest - squared(x, y, z, q)) * sharp);
        all += w;
        a += w * q[0];
        b += w * q[1];
        c += w * q[2];
    }
    out[3 * (size_t)i] = a / all;
    out[3 * (size_t)i + 1] = b / all;
    out[3 * (size_t)i + 2] = c / all;
}
