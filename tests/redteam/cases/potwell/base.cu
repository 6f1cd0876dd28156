// Softened gravitational potential of every body: phi_i = - sum over j != i of m_j / sqrt(|r_i - r_j|^2 + 0.01).
extern "C" __global__ void potwell(const float* pos, const float* mass, float* phi, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float px = pos[3LL * i], py = pos[3LL * i + 1], pz = pos[3LL * i + 2];
    float acc = 0.0f;
    for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        float dx = pos[3LL * j] - px;
        float dy = pos[3LL * j + 1] - py;
        float dz = pos[3LL * j + 2] - pz;
        float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
        acc += mass[j] / sqrtf(r2);
    }
    phi[i] = -acc;
}
