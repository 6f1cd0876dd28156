// Counts of the pairs of points by their distance, for an estimate of Ripley's K: bin b has those from b/per up to
// (b+1)/per. The counts are added to what is there, so that a pattern can come in several pieces.
extern "C" __global__ void ripley(const float* px, const float* py, unsigned* count, int n, int bins, float per) {
    __shared__ float tx[256], ty[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = i < n ? px[i] : 0.0f, y = i < n ? py[i] : 0.0f;
    for (int begin = blockIdx.x * 256; begin < n; begin += 256) {
        __syncthreads();
        if (begin + (int)threadIdx.x < n) {
            tx[threadIdx.x] = px[begin + threadIdx.x];
            ty[threadIdx.x] = py[begin + threadIdx.x];
        }
        __syncthreads();
        if (i >= n) continue;
        int end = min(256, n - begin);
        for (int k = 0; k < end; ++k) {
            if (begin + k <= i) continue;
            float dx = __fsub_rn(tx[k], x), dy = __fsub_rn(ty[k], y);
            float far = __fmul_rn(__fsqrt_rn(__fmaf_rn(dx, dx, __fmul_rn(dy, dy))), per);
            if (far >= 0.0f && far < (float)bins) atomicAdd(&count[(int)far], 1u);
        }
    }
}
