// Counts of the pairs of points by their distance, for an estimate of Ripley's K: bin b has those from b/per up to
// (b+1)/per. The counts are added to what is there, so that a pattern can come in several pieces. A warp lists the bins
// of its near pairs, in any order, and counts a list of 32 at once.
#define FEW 512
extern "C" __global__ void __launch_bounds__(256)
    ripley(const float* __restrict__ px, const float* __restrict__ py, unsigned* __restrict__ count, int n, int bins,
           float per) {
    __shared__ float2 tile[256];
    __shared__ unsigned seen[FEW];
    __shared__ int list[8][64];
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32;
    int* near = list[threadIdx.x / 32];
    bool few = bins <= FEW;
    unsigned* counts = few ? seen : count;
    for (int b = threadIdx.x; b < FEW; b += 256) seen[b] = 0;
    float x = i < n ? px[i] : 0.0f, y = i < n ? py[i] : 0.0f, limit = (float)bins;
    int waiting = 0;
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
            unsigned with = __ballot_sync(0xffffffffu, bin >= 0);
            if (!with) continue;
            if (bin >= 0) near[waiting + __popc(with & ((1u << lane) - 1))] = bin;
            waiting += __popc(with);
            if (waiting >= 32) {
                __syncwarp();
                atomicAdd(&counts[near[lane]], 1u);
                waiting -= 32;
                int rest = lane < waiting ? near[32 + lane] : 0;
                __syncwarp();
                if (lane < waiting) near[lane] = rest;
                __syncwarp();
            }
        }
    }
    __syncwarp();
    if (lane < waiting) atomicAdd(&counts[near[lane]], 1u);
    __syncthreads();
    if (few)
        for (int b = threadIdx.x; b < bins; b += 256)
            if (seen[b]) atomicAdd(&count[b], seen[b]);
}
