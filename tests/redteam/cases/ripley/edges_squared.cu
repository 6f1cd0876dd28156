// Counts of the pairs of points by their distance, for an estimate of Ripley's K: bin b has those from b/per up to
// (b+1)/per. The counts are added to what is there, so that a pattern can come in several pieces. The squares of the
// distances are compared with those of the edges of the bins, which spares the root; the fast root only says where to look.
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
    float x = i < n ? px[i] : 0.0f, y = i < n ? py[i] : 0.0f;
    float square = per * per, limit = (float)bins * (float)bins;
    bool forward = per >= 0.0f;
    for (int begin = blockIdx.x * 256; begin < n; begin += 256) {
        __syncthreads();
        int j = begin + threadIdx.x;
        if (j < n) tile[threadIdx.x] = make_float2(px[j], py[j]);
        __syncthreads();
        if (i < n && forward) {
            int end = min(256, n - begin);
            for (int k = begin == (int)blockIdx.x * 256 ? threadIdx.x + 1 : 0; k < end; ++k) {
                float dx = tile[k].x - x, dy = tile[k].y - y;
                float far2 = fmaf(dx, dx, dy * dy) * square;
                if (!(far2 < limit)) continue;
                int bin = far2 > 0.0f ? (int)(far2 * rsqrtf(far2)) : 0;
                if ((float)(bin + 1) * (float)(bin + 1) <= far2) ++bin;
                if ((float)bin * (float)bin > far2) --bin;
                atomicAdd(&mine[bin], 1u);
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
