// What a bank may lose by a counterparty at each date, in the mean over all paths: what a portfolio is worth beyond what
// is held against it. A block has 32 dates, and each eighth path goes to another warp, which adds floats, and what is
// lost of them beside. Where a sum is too large for a float it is made again.
__global__ void exposure(const float* worth, float* mean, int paths, int dates, float held) {
    __shared__ double part[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    size_t d = blockIdx.x * (size_t)32 + x;
    float sum = 0.f, beside = 0.f;
    for (size_t p = y; d < dates && p < paths; p += 8) {
        float lost = worth[p * dates + d] - held;
        lost = lost > 0.f ? lost : 0.f;
        float next = __fadd_rn(sum, lost);
        float of = __fsub_rn(next, sum);
        beside += __fadd_rn(__fsub_rn(sum, __fsub_rn(next, of)), __fsub_rn(lost, of));
        sum = next;
    }
    double all = (double)sum + beside;
    if (!isfinite(sum)) {
        all = 0.;
        for (size_t p = y; d < dates && p < paths; p += 8) {
            float lost = worth[p * dates + d] - held;
            if (lost > 0.f) all += lost;
        }
    }
    part[y][x] = all;
    __syncthreads();
    if (y || d >= dates) return;
    for (int w = 1; w < 8; ++w) all += part[w][x];
    mean[d] = (float)(all / paths);
}
