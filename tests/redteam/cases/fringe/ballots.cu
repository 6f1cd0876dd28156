// A warp per detector. The unwrapped phase is the phase plus 65536 times the turns made so far; turns are counted
// with two ballots, one for steps over the top and one for steps under the bottom.
#include <cstdint>
extern "C" __global__ void fringe(const uint16_t* phase, int* path, int n, int m)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const uint16_t* p = phase + (size_t)row * m;
    int* out = path + (size_t)row * m;
    unsigned upto = 0xffffffffu >> (31 - lane);
    int turns = 0;
    for (int base = 0; base < m; base += 32) {
        int i = base + lane;
        int here = i < m ? p[i] : 0;
        int d = (i > 0 && i < m) ? here - (int)p[i - 1] : 0;
        unsigned over = __ballot_sync(0xffffffffu, d < -32768);
        unsigned under = __ballot_sync(0xffffffffu, d >= 32768);
        int k = turns + __popc(over & upto) - __popc(under & upto);
        if (i < m) out[i] = here + k * 65536;
        turns += __popc(over) - __popc(under);
    }
}
