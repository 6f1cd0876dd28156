// Counts of the pairs of points by their distance, for an estimate of Ripley's K: bin b has those from b/per up to
// (b+1)/per. The counts are added to what is there, so that a pattern can come in several pieces. The counts of a tile
// of 256 by 256 points are kept in halves of words in shared memory, and go to the others after each tile.
#define FEW 256
extern "C" __global__ void __launch_bounds__(256)
    ripley(const float* __restrict__ px, const float* __restrict__ py, unsigned* __restrict__ count, int n, int bins,
           float per) {
    __shared__ float2 tile[256];
    __shared__ unsigned seen[FEW / 2];
    int i = blockIdx.x * 256 + threadIdx.x;
    bool few = bins <= FEW;
    if (threadIdx.x < FEW / 2) seen[threadIdx.x] = 0;
    float x = i < n ? px[i] : 0.0f, y = i < n ? py[i] : 0.0f, limit = (float)bins;
    unsigned mine = 0;
    for (int begin = blockIdx.x * 256; begin < n; begin += 256) {
        __syncthreads();
        int j = begin + threadIdx.x;
        if (j < n) tile[threadIdx.x] = make_float2(px[j], py[j]);
        __syncthreads();
        if (i < n) {
            int end = min(256, n - begin);
            for (int k = begin == (int)blockIdx.x * 256 ? threadIdx.x + 1 : 0; k < end; ++k) {
                float dx = __fsub_rn(tile[k].x, x), dy = __fsub_rn(tile[k].y, y);
                float far = __fmul_rn(__fsqrt_rn(__fmaf_rn(dx, dx, __fmul_rn(dy, dy))), per);
                if (!(far >= 0.0f && far < limit)) continue;
                int bin = (int)far;
                if (few)
                    atomicAdd(&seen[bin / 2], bin % 2 ? 65536u : 1u);
                else
                    atomicAdd(&count[bin], 1u);
            }
        }
        __syncthreads();
        if (few) mine += threadIdx.x % 2 ? seen[threadIdx.x / 2] >> 16 : seen[threadIdx.x / 2] & 65535u;
        __syncthreads();
        if (threadIdx.x < FEW / 2) seen[threadIdx.x] = 0;
    }
    if (few && threadIdx.x < bins && mine) atomicAdd(&count[threadIdx.x], mine);
}
