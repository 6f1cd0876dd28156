// What a bank may lose by a counterparty at each date, in the mean over all paths: what a portfolio is worth beyond what
// is held against it. A block has 32 dates, and each eighth path goes to another warp.
__global__ void exposure(const float* worth, float* mean, int paths, int dates, float held) {
    __shared__ double part[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    size_t d = blockIdx.x * (size_t)32 + x;
    double sum = 0.;
    for (size_t p = y; d < dates && p < paths; p += 8) {
        float lost = worth[p * dates + d] - held;
        if (lost > 0.f) sum += lost;
    }
    part[y][x] = sum;
    __syncthreads();
    if (y || d >= dates) return;
    for (int w = 1; w < 8; ++w) sum += part[w][x];
    mean[d] = (float)(sum / paths);
}
