// The largest loss of each fund from a day to a later one.
__global__ void drawdown(const float* value, float* loss, int n, int days) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= n) return;
    float peak = -INFINITY, most = 0.f;
    for (int d = 0; d < days; ++d) {
        float v = value[(size_t)f * days + d];
        peak = fmaxf(peak, v);
        most = fmaxf(most, peak - v);
    }
    loss[f] = most;
}
