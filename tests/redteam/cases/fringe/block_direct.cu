// A block of 256 threads per detector: both samples of a step straight from global memory (the second read is a hit in
// L1), a scan in each warp, and the sums of the eight warps joined through shared memory.
#include <cstdint>
extern "C" __global__ void fringe(const uint16_t* phase, int* path, int n, int m)
{
    __shared__ int sums[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const uint16_t* p = phase + (size_t)blockIdx.x * m;
    int* out = path + (size_t)blockIdx.x * m;
    int carry = p[0];
    for (int base = 0; base < m; base += 256) {
        int i = base + t;
        int step = (i > 0 && i < m) ? (int16_t)(uint16_t)(p[i] - p[i - 1]) : 0;
        for (int d = 1; d < 32; d *= 2) {
            int v = __shfl_up_sync(0xffffffffu, step, d);
            if (lane >= d) step += v;
        }
        if (lane == 31) sums[warp] = step;
        __syncthreads();
        int all = 0;
        for (int w = 0; w < 8; ++w) {
            if (w < warp) step += sums[w];
            all += sums[w];
        }
        if (i < m) out[i] = carry + step;
        carry += all;
    }
}
