// Of 32 dates the losses of the paths from `first` on, each eighth of them, up to `end`.
__device__ double losses(const float* worth, size_t first, size_t end, size_t d, int dates, float held) {
    double sum = 0.;
    for (size_t p = first; d < dates && p < end; p += 8) {
        float lost = worth[p * dates + d] - held;
        if (lost > 0.f) sum += lost;
    }
    return sum;
}

// What a bank may lose by a counterparty at each date, in the mean over all paths: what a portfolio is worth beyond what
// is held against it. A block has 32 dates, and each eighth path goes to another warp. Simulations mostly have a multiple
// of 256 paths: then sixteen are loaded at once, of two stretches, before they are added.
__global__ void exposure(const float* worth, float* mean, int paths, int dates, float held) {
    __shared__ double part[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    size_t d = blockIdx.x * (size_t)32 + x;
    double sum = 0.;
    if (paths % 256 == 0 && d < dates) {
        size_t half = paths / 256 / 2 * 256;
        for (size_t p = y; p < half; p += 64) {
            float a[8], b[8];
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                a[k] = worth[(p + 8 * k) * dates + d] - held;
                b[k] = worth[(half + p + 8 * k) * dates + d] - held;
            }
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                if (a[k] > 0.f) sum += a[k];
                if (b[k] > 0.f) sum += b[k];
            }
        }
    } else {
        sum = losses(worth, y, paths, d, dates, held);
    }
    part[y][x] = sum;
    __syncthreads();
    if (y || d >= dates) return;
    for (int w = 1; w < 8; ++w) sum += part[w][x];
    mean[d] = (float)(sum / paths);
}
