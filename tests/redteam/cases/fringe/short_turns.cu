// The turns made so far are kept in 16 bits, two detectors to a thread, so that one word carries both.
#include <cstdint>
extern "C" __global__ void fringe(const uint16_t* phase, int* path, int n, int m)
{
    int row = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= n) return;
    int second = row + 1 < n ? row + 1 : row;
    const uint16_t* p = phase + (size_t)row * m;
    const uint16_t* q = phase + (size_t)second * m;
    int* outP = path + (size_t)row * m;
    int* outQ = path + (size_t)second * m;
    short2 turns = make_short2(0, 0);
    int lastP = p[0], lastQ = q[0];
    outP[0] = lastP;
    outQ[0] = lastQ;
    for (int i = 1; i < m; ++i) {
        int a = p[i], b = q[i];
        if (a - lastP < -32768) ++turns.x;
        else if (a - lastP >= 32768) --turns.x;
        if (b - lastQ < -32768) ++turns.y;
        else if (b - lastQ >= 32768) --turns.y;
        lastP = a;
        lastQ = b;
        outP[i] = a + (int)turns.x * 65536;
        outQ[i] = b + (int)turns.y * 65536;
    }
}
