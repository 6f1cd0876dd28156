// Sums of all that comes before, for what 256 windows cover; a window is a difference of two.
__global__ void boxes(const unsigned char* __restrict__ in, int* __restrict__ out, int w, int r) {
    __shared__ int before[1025];
    __shared__ int warps[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int c0 = blockIdx.x * 256, c = c0 + t;
    const unsigned char* row = in + (size_t)blockIdx.y * w;
    if (r > 384) {
        if (c >= w) return;
        int first = max(c - r, 0), last = min(c + r, w - 1), s = 0;
        for (int i = first; i <= last; ++i) s += row[i];
        out[(size_t)blockIdx.y * w + c] = s;
        return;
    }
    int v[4], own = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int at = c0 - r + 4 * t + k;
        own += at >= 0 && at < w ? row[at] : 0;
        v[k] = own;
    }
    int upto = own;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffffu, upto, d);
        if (lane >= d) upto += other;
    }
    if (lane == 31) warps[warp] = upto;
    __syncthreads();
    int start = upto - own;
    for (int k = 0; k < warp; ++k) start += warps[k];
    if (t == 0) before[0] = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) before[4 * t + k + 1] = start + v[k];
    __syncthreads();
    if (c < w) out[(size_t)blockIdx.y * w + c] = before[t + 2 * r + 1] - before[t];
}
