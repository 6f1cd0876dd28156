// What a bank may lose by a counterparty at each date, in the mean over all paths: what a portfolio is worth beyond what
// is held against it.
__global__ void exposure(const float* worth, float* mean, int paths, int dates, float held) {
    size_t d = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (d >= dates) return;
    double sum = 0.;
    for (size_t p = 0; p < paths; ++p) {
        float lost = worth[p * dates + d] - held;
        if (lost > 0.f) sum += lost;
    }
    mean[d] = (float)(sum / paths);
}
