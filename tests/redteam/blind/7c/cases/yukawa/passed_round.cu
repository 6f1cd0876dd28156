// Screened potential at every particle: phi_i = sum_j q_j exp(-kappa r_ij) / r_ij over all that lie elsewhere.
__global__ void yukawa(const float* x, const float* y, const float* z, const float* q, float* phi, float kappa, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    bool mine = i < n;
    float xi = mine ? x[i] : 0.0f, yi = mine ? y[i] : 0.0f, zi = mine ? z[i] : 0.0f;
    float sum[2] = {0.0f, 0.0f};
    for (int base = 0; base < n; base += 32) {
        int j = base + lane;
        bool there = j < n;
        float xj = there ? x[j] : 0.0f, yj = there ? y[j] : 0.0f, zj = there ? z[j] : 0.0f;
        float qj = there ? q[j] : 0.0f;
        int left = min(32, n - base);
        for (int k = 0; k < left; ++k) {
            float dx = __shfl_sync(~0u, xj, k) - xi;
            float dy = __shfl_sync(~0u, yj, k) - yi;
            float dz = __shfl_sync(~0u, zj, k) - zi;
            float charge = __shfl_sync(~0u, qj, k);
            float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 > 0.0f) {
                float r = sqrtf(r2);
                sum[k & 1] += charge * expf(-kappa * r) / r;
            }
        }
    }
    if (mine) phi[i] = sum[0] + sum[1];
}
