// Transverse magnetization of each voxel after each pulse of a train: a pulse turns about x, then the voxel
// precesses by its own angle and relaxes. One thread for each voxel.
__global__ void bloch(const float* __restrict__ flip, const float* __restrict__ phase, const float* __restrict__ e1,
                      const float* __restrict__ e2, float* __restrict__ mx, float* __restrict__ my, int steps,
                      int voxels) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= voxels) return;
    float keep1 = fminf(fmaxf(e1[v], 0.0f), 0.98f);
    float keep2 = fminf(fmaxf(e2[v], 0.0f), 0.98f);
    float cp = cosf(phase[v]);
    float sp = sinf(phase[v]);
    float x = 0.0f, y = 0.0f, z = 1.0f;
    for (int s = 0; s < steps; ++s) {
        float c = cosf(flip[s]);
        float sn = sinf(flip[s]);
        float turned_y = c * y - sn * z;
        float turned_z = sn * y + c * z;
        mx[(size_t)s * voxels + v] = x;
        my[(size_t)s * voxels + v] = turned_y;
        float next_x = (cp * x - sp * turned_y) * keep2;
        y = (sp * x + cp * turned_y) * keep2;
        z = 1.0f + (turned_z - 1.0f) * keep1;
        x = next_x;
    }
}
