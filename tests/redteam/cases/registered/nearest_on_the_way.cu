// Where a cloud's points would go on a model, in one pass: sums are scaled anew where a nearer point is found.
__device__ float squared(float x, float y, float z, const float* q) {
    float a = x - q[0], b = y - q[1], c = z - q[2];
    return fmaf(a, a, fmaf(b, b, c * c));
}

__global__ void registered(const float* cloud, const float* model, float* out, int n, int m, float sharp) {
    __shared__ float tile[3 * 128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, own = min(i, n - 1);
    float x = cloud[3 * (size_t)own], y = cloud[3 * (size_t)own + 1], z = cloud[3 * (size_t)own + 2];
    // No square is larger than this but an infinite one, which never is the nearest.
    const float none = 3.402823466e38f;
    float nearest = none, all = 0.f, a = 0.f, b = 0.f, c = 0.f;
    for (int k0 = 0; k0 < m; k0 += 128) {
        int many = min(m - k0, 128);
        __syncthreads();
        for (int e = threadIdx.x; e < 3 * many; e += blockDim.x) tile[e] = model[3 * (size_t)k0 + e];
        __syncthreads();
        for (int k = 0; k < many; ++k) {
            const float* q = tile + 3 * k;
            float d = squared(x, y, z, q);
            if (d < nearest) {
                float r = nearest == none ? 0.f : expf((d - nearest) * sharp);
                nearest = d;
                all *= r;
                a *= r;
                b *= r;
                c *= r;
            }
            float w = expf((nearest - d) * sharp);
            all += w;
            a += w * q[0];
            b += w * q[1];
            c += w * q[2];
        }
    }
    if (i >= n) return;
    out[3 * (size_t)i] = a / all;
    out[3 * (size_t)i + 1] = b / all;
    out[3 * (size_t)i + 2] = c / all;
}
