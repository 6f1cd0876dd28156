// Counts of the pairs of points by their distance, for an estimate of Ripley's K: bin b has those from b/per up to
// (b+1)/per. The counts are added to what is there, so that a pattern can come in several pieces. All pairs stand in a
// row, of which every thread has as much as any other: pair p of row i begins at i*(i-1)/2.
#define FEW 128
extern "C" __global__ void __launch_bounds__(256)
    ripley(const float* __restrict__ px, const float* __restrict__ py, unsigned* __restrict__ count, int n, int bins,
           float per) {
    __shared__ unsigned seen[8][FEW];
    bool few = bins <= FEW;
    unsigned* mine = few ? seen[threadIdx.x / 32] : count;
    for (int b = threadIdx.x; b < 8 * FEW; b += 256) (&seen[0][0])[b] = 0;
    __syncthreads();
    float limit = (float)bins;
    int pairs = n * (n - 1) / 2;
    int stride = gridDim.x * 256;
    int rounds = (pairs + stride - 1) / stride;
    int pair = blockIdx.x * 256 + threadIdx.x;
    for (int r = 0; r < rounds && pair < pairs; ++r, pair += stride) {
        int i = (int)((1.0 + sqrt(1.0 + 8.0 * pair)) * 0.5);
        int j = (int)(pair - (long long)i * (i - 1) / 2);
        if (j < 0) --i, j += i;
        if (j >= i) j -= i, ++i;
        float dx = __fsub_rn(px[i], px[j]), dy = __fsub_rn(py[i], py[j]);
        float far = __fmul_rn(__fsqrt_rn(__fmaf_rn(dx, dx, __fmul_rn(dy, dy))), per);
        if (far >= 0.0f && far < limit) atomicAdd(&mine[(int)far], 1u);
    }
    __syncthreads();
    if (!few) return;
    for (int b = threadIdx.x; b < bins; b += 256) {
        unsigned all = 0;
        for (int k = 0; k < 8; ++k) all += seen[k][b];
        if (all) atomicAdd(&count[b], all);
    }
}
