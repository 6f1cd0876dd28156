// A block of 256 threads per detector: a tile of samples through shared memory, a scan in each warp, and the sums of
// the eight warps joined through shared memory.
#include <cstdint>
extern "C" __global__ void fringe(const uint16_t* phase, int* path, int n, int m)
{
    __shared__ uint16_t tile[256];
    __shared__ int sums[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const uint16_t* p = phase + (size_t)blockIdx.x * m;
    int* out = path + (size_t)blockIdx.x * m;
    int carry = p[0];
    for (int base = 0; base < m; base += 256) {
        int i = base + t;
        uint16_t before = (t == 0 && base > 0) ? p[base - 1] : 0;
        tile[t] = i < m ? p[i] : 0;
        __syncthreads();
        if (t > 0) before = tile[t - 1];
        int step = (i > 0 && i < m) ? (int16_t)(uint16_t)(tile[t] - before) : 0;
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
