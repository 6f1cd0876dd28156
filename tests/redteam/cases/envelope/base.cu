// How high each channel stands: at once as high as what comes, and falling by a factor a step.
__global__ void envelope(const float* x, float* y, int steps, int channels, float fall) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float high = 0.f;
    for (int t = 0; t < steps; ++t) {
        size_t i = (size_t)t * channels + c;
        high = fmaxf(high * fall, fabsf(x[i]));
        y[i] = high;
    }
}
