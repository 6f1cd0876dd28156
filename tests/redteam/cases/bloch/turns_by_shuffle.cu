// Transverse magnetization of each voxel after each pulse of a train: a pulse turns about x, then the voxel
// precesses by its own angle and relaxes. Each lane works out the turn of one pulse of 32 and hands it round.
__global__ void bloch(const float* __restrict__ flip, const float* __restrict__ phase, const float* __restrict__ e1,
                      const float* __restrict__ e2, float* __restrict__ mx, float* __restrict__ my, int steps,
                      int voxels) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    if (v - lane >= voxels) return;   // the whole warp
    bool in = v < voxels;
    int at = in ? v : voxels - 1;
    float keep1 = fminf(fmaxf(e1[at], 0.0f), 0.98f);
    float keep2 = fminf(fmaxf(e2[at], 0.0f), 0.98f);
    float cp = cosf(phase[at]);
    float sp = sinf(phase[at]);
    float x = 0.0f, y = 0.0f, z = 1.0f;
    for (int first = 0; first < steps; first += 32) {
        float angle = flip[min(first + lane, steps - 1)];
        float cosine = cosf(angle);
        float sine = sinf(angle);
        int count = min(32, steps - first);
        for (int k = 0; k < count; ++k) {
            float c = __shfl_sync(0xffffffffu, cosine, k);
            float sn = __shfl_sync(0xffffffffu, sine, k);
            float turned_y = c * y - sn * z;
            float turned_z = sn * y + c * z;
            if (in) {
                size_t place = (size_t)(first + k) * voxels + v;
                mx[place] = x;
                my[place] = turned_y;
            }
            float next_x = (cp * x - sp * turned_y) * keep2;
            y = (sp * x + cp * turned_y) * keep2;
            z = 1.0f + (turned_z - 1.0f) * keep1;
            x = next_x;
        }
    }
}
