// Screened potential at every particle: phi_i = sum_j q_j exp(-kappa r_ij) / r_ij over all that lie elsewhere.
__global__ void yukawa(const float* x, const float* y, const float* z, const float* q, float* phi, float kappa, int n) {
    __shared__ float4 tile[128];
    __shared__ float charge[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = min(i, n - 1);
    float xi = x[at], yi = y[at], zi = z[at];
    float own = xi * xi + yi * yi + zi * zi;
    float sum = 0.0f;
    for (int base = 0; base < n; base += 128) {
        int j = min(base + (int)threadIdx.x, n - 1);
        float a = x[j], b = y[j], c = z[j];
        tile[threadIdx.x] = make_float4(a, b, c, a * a + b * b + c * c);
        charge[threadIdx.x] = q[j];
        __syncthreads();
        int here = min(128, n - base);
        for (int m = 0; m < here; ++m) {
            float4 p = tile[m];
            bool apart = p.x != xi || p.y != yi || p.z != zi;
            float r2 = own + p.w - 2.0f * (p.x * xi + p.y * yi + p.z * zi);
            if (apart && r2 > 0.0f) {
                float r = sqrtf(r2);
                sum += charge[m] * expf(-kappa * r) / r;
            }
        }
        __syncthreads();
    }
    if (i < n) phi[i] = sum;
}
