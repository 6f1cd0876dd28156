// How much of each material is in each pixel: a matrix applied to the bands of a pixel, and nothing below zero.
__global__ void unmix(const float* cube, const float* m, float* out, int pixels, int bands, int ends) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)pixels * ends) return;
    size_t p = i / ends, e = i % ends;
    float sum = 0.f;
    for (int b = 0; b < bands; ++b) sum += cube[p * bands + b] * m[(size_t)b * ends + e];
    out[i] = fmaxf(sum, 0.f);
}
