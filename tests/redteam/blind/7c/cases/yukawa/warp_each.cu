// Screened potential at every particle: phi_i = sum_j q_j exp(-kappa r_ij) / r_ij over all that lie elsewhere.
__global__ void yukawa(const float* x, const float* y, const float* z, const float* q, float* phi, float kappa, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (i >= n) return;
    float xi = x[i], yi = y[i], zi = z[i];
    float sum = 0.0f;
    for (int j = lane; j < n; j += 32) {
        float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 > 0.0f) {
            float r = sqrtf(r2);
            sum += q[j] * expf(-kappa * r) / r;
        }
    }
    for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) phi[i] = sum;
}
