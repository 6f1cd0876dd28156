// Counts of the pairs of points by their distance, for an estimate of Ripley's K: bin b has those from b/per up to
// (b+1)/per. The counts are added to what is there, so that a pattern can come in several pieces. Each warp has counts
// of its own in shared memory, where there are no more than 128 bins.
#define FEW 128
extern "C" __global__ void __launch_bounds__(256)
    ripley(const float* __restrict__ px, const float* __restrict__ py, unsigned* __restrict__ count, int n, int bins,
           float per) {
    __shared__ float2 tile[256];
    __shared__ unsigned seen[8][FEW];
    int i = blockIdx.x * 256 + threadIdx.x;
    bool few = bins <= FEW;
    unsigned* mine = few ? seen[threadIdx.x / 32] : count;
    for (int b = threadIdx.x; b < 8 * FEW; b += 256) (&seen[0][0])[b] = 0;
    float x = i < n ? px[i] : 0.0f, y = i < n ? py[i] : 0.0f, limit = (float)bins;
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
                if (far >= 0.0f && far < limit) atomicAdd(&mine[(int)far], 1u);
            }
        }
    }
    __syncthreads();
    if (!few) return;
    for (int b = threadIdx.x; b < bins; b += 256) {
        unsigned all = 0;
        for (int k = 0; k < 8; ++k) all += seen[k][b];
        if (all) atomicAdd(&count[b], all);
    }
}
