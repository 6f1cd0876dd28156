// Screened potential at every particle: phi_i = sum_j q_j exp(-kappa r_ij) / r_ij over all that lie elsewhere.
__global__ void yukawa(const float* x, const float* y, const float* z, const float* q, float* phi, float kappa, int n) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = min(i, n - 1);
    float xi = x[at], yi = y[at], zi = z[at];
    float sum = 0.0f;
    for (int base = 0; base < n; base += 128) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? make_float4(x[j], y[j], z[j], q[j]) : make_float4(0, 0, 0, 0);
        __syncthreads();
        int here = min(128, n - base);
        for (int m = 0; m < here; ++m) {
            float4 p = tile[m];
            float dx = p.x - xi, dy = p.y - yi, dz = p.z - zi;
            float r = sqrtf(dx * dx + dy * dy + dz * dz);
            float term = p.w * expf(-kappa * r) / r;
            if (base + m != at) sum += term;
        }
        __syncthreads();
    }
    if (i < n) phi[i] = sum;
}
