// The largest loss of each fund, by a warp for a fund. Of 32 days the highest value until each comes by shuffles.
__global__ void drawdown(const float* value, float* loss, int n, int days) {
    int f = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (f >= n) return;
    float before = -INFINITY, most = 0.f;
    for (int d0 = 0; d0 < days; d0 += 32) {
        int d = d0 + lane;
        float v = d < days ? value[(size_t)f * days + d] : -INFINITY, peak = v;
        for (int w = 1; w < 32; w *= 2) {
            float other = __shfl_up_sync(~0u, peak, w);
            if (lane >= w) peak = fmaxf(peak, other);
        }
        peak = fmaxf(peak, before);
        if (d < days) most = fmaxf(most, peak - v);
        before = __shfl_sync(~0u, peak, 31);
    }
    for (int w = 16; w > 0; w /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, w));
    if (lane == 0) loss[f] = most;
}
