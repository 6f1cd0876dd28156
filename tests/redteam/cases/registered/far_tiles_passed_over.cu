// Where a cloud's points would go on a model. Points of a tile lie within seven of
// each other, so one whose ends are both far off counts for nothing.
__device__ float squared(float x, float y, float z, const float* q) {
    float a = x - q[0], b = y - q[1], c = z - q[2];
    return fmaf(a, a, fmaf(b, b, c * c));
}

__global__ void registered(const float* cloud, const float* model, float* out, int n, int m, float sharp) {
    __shared__ float tile[3 * 128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, own = min(i, n - 1);
    float x = cloud[3 * (size_t)own], y = cloud[3 * (size_t)own + 1], z = cloud[3 * (size_t)own + 2];
    float nearest = INFINITY, all = 0.f, a = 0.f, b = 0.f, c = 0.f;
    for (int pass = 0; pass < 2; ++pass) {
        for (int k0 = 0; k0 < m; k0 += 128) {
            int many = min(m - k0, 128);
            __syncthreads();
            for (int e = threadIdx.x; e < 3 * many; e += blockDim.x) tile[e] = model[3 * (size_t)k0 + e];
            __syncthreads();
            float reach = 25.f / sharp + 50.f, first = squared(x, y, z, tile), last = squared(x, y, z, tile + 3 * (many - 1));
            if (fminf(first, last) > nearest + reach) continue;
            if (pass == 0) {
                for (int k = 0; k < many; ++k) nearest = fminf(nearest, squared(x, y, z, tile + 3 * k));
                continue;
            }
            for (int k = 0; k < many; ++k) {
                const float* q = tile + 3 * k;
                float w = expf((nearest - squared(x, y, z, q)) * sharp);
                all += w;
                a += w * q[0];
                b += w * q[1];
                c += w * q[2];
            }
        }
    }
    if (i >= n) return;
    out[3 * (size_t)i] = a / all;
    out[3 * (size_t)i + 1] = b / all;
    out[3 * (size_t)i + 2] = c / all;
}
