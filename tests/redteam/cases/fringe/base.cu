// Fringe counting: unwraps 16-bit phases (65536 to the turn) of n detectors, m samples each. Every step is taken the
// short way round; a step of exactly half a turn counts as backwards. Gives the unwrapped phase in 1/65536 turns.
#include <cstdint>
extern "C" __global__ void fringe(const uint16_t* phase, int* path, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const uint16_t* p = phase + (size_t)row * m;
    int* out = path + (size_t)row * m;
    int where = p[0];
    out[0] = where;
    for (int i = 1; i < m; ++i) {
        where += (int16_t)(uint16_t)(p[i] - p[i - 1]);
        out[i] = where;
    }
}
