// A warp per detector; the steps are small whole numbers, their prefix sums are taken with the usual shuffle scan.
#include <cstdint>
extern "C" __global__ void fringe(const uint16_t* phase, int* path, int n, int m)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const uint16_t* p = phase + (size_t)row * m;
    int* out = path + (size_t)row * m;
    float where = (float)p[0];
    for (int base = 0; base < m; base += 32) {
        int i = base + lane;
        float step = (i > 0 && i < m) ? (float)(int16_t)(uint16_t)(p[i] - p[i - 1]) : 0.0f;
        for (int d = 1; d < 32; d *= 2) {
            float v = __shfl_up_sync(0xffffffffu, step, d);
            if (lane >= d) step += v;
        }
        step += where;
        if (i < m) out[i] = (int)step;
        where = __shfl_sync(0xffffffffu, step, 31);
    }
}
