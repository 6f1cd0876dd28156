// Pixels of three bytes as three planes of floats, each less its mean and scaled.
__global__ void planes(const unsigned char* in, const float* mean, const float* scale, float* out,
                       int images, int h, int w) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, plane = (size_t)h * w;
    if (i >= images * plane) return;
    size_t image = i / plane, at = i % plane;
    for (int c = 0; c < 3; ++c) out[(image * 3 + c) * plane + at] = (in[i * 3 + c] / 255.f - mean[c]) * scale[c];
}
