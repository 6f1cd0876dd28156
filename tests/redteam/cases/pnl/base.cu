// What books gain in scenarios: positions times moves, less what a book costs.
__global__ void pnl(const float* held, const float* move, const float* cost, float* gain, int books, int k, int days) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)books * days) return;
    size_t b = i / days, d = i % days;
    float sum = 0.f;
    for (int c = 0; c < k; ++c) sum += held[b * k + c] * move[d * k + c];
    gain[i] = sum - cost[b];
}
