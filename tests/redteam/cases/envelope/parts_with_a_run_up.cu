// How high each channel stands: at once as high as what comes, and falling by a factor a step.
__global__ void envelope(const float* x, float* y, int steps, int channels, float fall) {
    int c = blockIdx.x * 64 + threadIdx.x;
    if (c >= channels) return;
    // Each part of 256 steps begins 512 before, when all that was higher has fallen.
    int first = blockIdx.y * 256, end = min(steps, first + 256);
    float high = 0.f;
    for (int t = max(0, first - 512); t < end; ++t) {
        size_t i = (size_t)t * channels + c;
        high = fmaxf(high * fall, fabsf(x[i]));
        if (t >= first) y[i] = high;
    }
}
