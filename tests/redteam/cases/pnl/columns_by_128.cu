// What books gain in scenarios: positions times moves, less what a book costs. A block has 32 books in 128 scenarios,
// and 128 columns at a time in shared memory.
__global__ void pnl(const float* held, const float* move, const float* cost, float* gain, int books, int k, int days) {
    extern __shared__ float room[];
    float *own = room, *moves = room + 32 * 128;
    int t = threadIdx.x, x = t % 128, y0 = t / 128 * 16;
    size_t wide = ((size_t)days + 127) / 128, top = blockIdx.x / wide * 32, left = blockIdx.x % wide * 128;
    float sum[16] = {};
    for (long long c0 = 0; c0 < k; c0 += 128) {
        int many = (int)min((long long)k - c0, 128ll);
        for (int s = t; s < 32 * 128; s += 256)
            if (s % 128 < many) own[s] = top + s / 128 < books ? held[(top + s / 128) * k + c0 + s % 128] : 0.f;
        for (int s = t; s < 128 * 128; s += 256)
            if (s % 128 < many)
                moves[s / 128 * 129 + s % 128] = left + s / 128 < days ? move[(left + s / 128) * k + c0 + s % 128] : 0.f;
        __syncthreads();
        for (int c = 0; c < many; ++c) {
            float v = moves[x * 129 + c];
#pragma unroll
            for (int y = 0; y < 16; ++y) sum[y] += own[(y0 + y) * 128 + c] * v;
        }
        __syncthreads();
    }
    size_t d = left + x;
    if (d >= days) return;
#pragma unroll
    for (int y = 0; y < 16; ++y)
        if (top + y0 + y < books) gain[(top + y0 + y) * days + d] = sum[y] - cost[top + y0 + y];
}
