// Counts of the pairs of points by their distance, for an estimate of Ripley's K: bin b has those from b/per up to
// (b+1)/per. The counts are added to what is there, so that a pattern can come in several pieces. The lanes of a warp
// that found the same bin are counted by one of them, in one of four sets of counts in shared memory.
#define FEW 128
extern "C" __global__ void __launch_bounds__(256)
    ripley(const float* __restrict__ px, const float* __restrict__ py, unsigned* __restrict__ count, int n, int bins,
           float per) {
    __shared__ float2 tile[256];
    __shared__ unsigned seen[4][FEW];
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32;
    bool few = bins <= FEW;
    volatile unsigned* mine = seen[threadIdx.x / 32 % 4];
    for (int b = threadIdx.x; b < 4 * FEW; b += 256) (&seen[0][0])[b] = 0;
    float x = i < n ? px[i] : 0.0f, y = i < n ? py[i] : 0.0f, limit = (float)bins;
    for (int begin = blockIdx.x * 256; begin < n; begin += 256) {
        __syncthreads();
        int j = begin + threadIdx.x;
        if (j < n) tile[threadIdx.x] = make_float2(px[j], py[j]);
        __syncthreads();
        int end = min(256, n - begin);
        for (int k = 0; k < end; ++k) {
            int bin = -1;
            if (i < n && begin + k > i) {
                float dx = __fsub_rn(tile[k].x, x), dy = __fsub_rn(tile[k].y, y);
                float far = __fmul_rn(__fsqrt_rn(__fmaf_rn(dx, dx, __fmul_rn(dy, dy))), per);
                if (far >= 0.0f && far < limit) bin = (int)far;
            }
            if (!__any_sync(0xffffffffu, bin >= 0)) continue;
            unsigned same = __match_any_sync(0xffffffffu, bin);
            if (bin >= 0 && lane == __ffs(same) - 1) {
                if (few)
                    mine[bin] = mine[bin] + __popc(same);
                else
                    atomicAdd(&count[bin], (unsigned)__popc(same));
            }
            __syncwarp();
        }
    }
    __syncthreads();
    if (!few) return;
    for (int b = threadIdx.x; b < bins; b += 256) {
        unsigned all = seen[0][b] + seen[1][b] + seen[2][b] + seen[3][b];
        if (all) atomicAdd(&count[b], all);
    }
}
