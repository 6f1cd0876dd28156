// One warp per body: the lanes stride over the others and fold their sums with shuffles.
extern "C" __global__ void potwell(const float* __restrict__ pos, const float* __restrict__ mass, float* __restrict__ phi, int n)
{
    int lane = threadIdx.x & 31;
    int i = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (i >= n) return;                     // the whole warp leaves together
    float px = pos[3LL * i], py = pos[3LL * i + 1], pz = pos[3LL * i + 2];
    double acc = 0.0;
    int j = lane;
    while (j < n) {
        float part = 0.0f;                  // short float runs, collected in double
        for (int u = 0; u < 16 && j < n; ++u, j += 32) {
            if (j == i) continue;
            float dx = pos[3LL * j] - px;
            float dy = pos[3LL * j + 1] - py;
            float dz = pos[3LL * j + 2] - pz;
            part += mass[j] / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        }
        acc += part;
    }
    for (int d = 16; d; d >>= 1) acc += __shfl_xor_sync(0xffffffffu, acc, d);
    if (lane == 0) phi[i] = (float)(-acc);
}
