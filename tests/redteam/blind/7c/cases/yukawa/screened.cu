// Screened potential at every particle: phi_i = sum_j q_j exp(-kappa r_ij) / r_ij over all that lie elsewhere.
__global__ void yukawa(const float* x, const float* y, const float* z, const float* q, float* phi, float kappa, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float xi = x[i], yi = y[i], zi = z[i];
    // nothing is left of what lies more than eight and a half screening lengths away
    float reach = 8.5f / kappa, reach2 = reach * reach;
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) {
        float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 > 0.0f && r2 < reach2) {
            float r = sqrtf(r2);
            sum += q[j] * expf(-kappa * r) / r;
        }
    }
    phi[i] = sum;
}
