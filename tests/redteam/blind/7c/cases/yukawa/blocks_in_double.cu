// Screened potential at every particle: phi_i = sum_j q_j exp(-kappa r_ij) / r_ij over all that lie elsewhere.
__global__ void yukawa(const float* x, const float* y, const float* z, const float* q, float* phi, float kappa, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float xi = x[i], yi = y[i], zi = z[i];
    double total = 0.0;
    for (int base = 0; base < n; base += 64) {
        int end = min(n, base + 64);
        float sum = 0.0f;
        for (int j = base; j < end; ++j) {
            float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
            float r2 = dx * dx + dy * dy + dz * dz;
            // nothing is added by whoever is in the same place
            bool apart = r2 > 0.0f;
            float r = sqrtf(apart ? r2 : 1.0f);
            float term = q[j] * expf(-kappa * r) / r;
            sum += apart ? term : 0.0f;
        }
        total += sum;
    }
    phi[i] = (float)total;
}
