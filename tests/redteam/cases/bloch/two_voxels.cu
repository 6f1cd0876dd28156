// Transverse magnetization of each voxel after each pulse of a train: a pulse turns about x, then the voxel
// precesses by its own angle and relaxes. Two voxels to a thread, half
// of all apart.
__global__ void bloch(const float* __restrict__ flip, const float* __restrict__ phase, const float* __restrict__ e1,
                      const float* __restrict__ e2, float* __restrict__ mx, float* __restrict__ my, int steps,
                      int voxels) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int half = (voxels + 1) / 2;
    if (v >= half) return;
    bool second = v + half < voxels;
    int w = second ? v + half : v;
    float keep1[2] = {fminf(fmaxf(e1[v], 0.0f), 0.98f), fminf(fmaxf(e1[w], 0.0f), 0.98f)};
    float keep2[2] = {fminf(fmaxf(e2[v], 0.0f), 0.98f), fminf(fmaxf(e2[w], 0.0f), 0.98f)};
    float cp[2], sp[2];
    sincosf(phase[v], &sp[0], &cp[0]);
    sincosf(phase[w], &sp[1], &cp[1]);
    float x[2] = {0.0f, 0.0f}, y[2] = {0.0f, 0.0f}, z[2] = {1.0f, 1.0f};
    for (int s = 0; s < steps; ++s) {
        float c, sn;
        sincosf(flip[s], &sn, &c);
        float* row_x = mx + (size_t)s * voxels;
        float* row_y = my + (size_t)s * voxels;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            float turned_y = c * y[k] - sn * z[k];
            float turned_z = sn * y[k] + c * z[k];
            row_x[k ? w : v] = x[k];
            row_y[k ? w : v] = turned_y;
            float next_x = (cp[k] * x[k] - sp[k] * turned_y) * keep2[k];
            y[k] = (sp[k] * x[k] + cp[k] * turned_y) * keep2[k];
            z[k] = 1.0f + (turned_z - 1.0f) * keep1[k];
            x[k] = next_x;
        }
    }
}
