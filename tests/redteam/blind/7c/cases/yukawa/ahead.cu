// Screened potential at every particle: phi_i = sum_j q_j exp(-kappa r_ij) / r_ij over all that lie elsewhere.
__global__ void yukawa(const float* x, const float* y, const float* z, const float* q, float* phi, float kappa, int n) {
    __shared__ float4 tile[2][128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = min(i, n - 1), t = threadIdx.x;
    float xi = x[at], yi = y[at], zi = z[at];
    float sum = 0.0f;
    int k = min(t, n - 1);
    tile[0][t] = make_float4(x[k], y[k], z[k], q[k]);
    for (int base = 0, now = 0; base < n; base += 128, now ^= 1) {
        // fetch the next one while this one is worked on
        k = min(base + 128 + t, n - 1);
        tile[now ^ 1][t] = make_float4(x[k], y[k], z[k], q[k]);
        __syncthreads();
        int here = min(128, n - base);
        for (int m = 0; m < here; ++m) {
            float4 p = tile[now][m];
            float dx = p.x - xi, dy = p.y - yi, dz = p.z - zi;
            float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 > 0.0f) {
                float r = sqrtf(r2);
                sum += p.w * expf(-kappa * r) / r;
            }
        }
    }
    if (i < n) phi[i] = sum;
}
