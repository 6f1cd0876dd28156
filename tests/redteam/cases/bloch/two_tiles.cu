// Transverse magnetization of each voxel after each pulse of a train: a pulse turns about x, then the voxel
// precesses by its own angle and relaxes. The block works out the turns
// of 64 pulses at a time, in two tables by turns.
constexpr int TILE = 64;

__global__ void bloch(const float* __restrict__ flip, const float* __restrict__ phase, const float* __restrict__ e1,
                      const float* __restrict__ e2, float* __restrict__ mx, float* __restrict__ my, int steps,
                      int voxels) {
    __shared__ float cosines[2][TILE];
    __shared__ float sines[2][TILE];
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = v < voxels;
    int at = in ? v : 0;
    float keep1 = fminf(fmaxf(e1[at], 0.0f), 0.98f);
    float keep2 = fminf(fmaxf(e2[at], 0.0f), 0.98f);
    float cp, sp;
    sincosf(phase[at], &sp, &cp);
    float x = 0.0f, y = 0.0f, z = 1.0f;
    int table = 0;
    for (int first = 0; first < steps; first += TILE) {
        int count = min(TILE, steps - first);
        int k0 = (int)threadIdx.x;
        if (k0 < count) sincosf(flip[first + k0], &sines[table][k0], &cosines[table][k0]);
        __syncthreads();
        for (int k = 0; k < count; ++k) {
            float c = cosines[table][k];
            float sn = sines[table][k];
            float turned_y = c * y - sn * z;
            float turned_z = sn * y + c * z;
            if (in) {
                mx[(size_t)(first + k) * voxels + v] = x;
                my[(size_t)(first + k) * voxels + v] = turned_y;
            }
            float next_x = (cp * x - sp * turned_y) * keep2;
            y = (sp * x + cp * turned_y) * keep2;
            z = 1.0f + (turned_z - 1.0f) * keep1;
            x = next_x;
        }
        table ^= 1;
    }
}
