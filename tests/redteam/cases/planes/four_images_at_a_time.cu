// Pixels of three bytes as three planes of floats, each less its mean and scaled.
__global__ void planes(const unsigned char* in, const float* mean, const float* scale, float* out,
                       int images, int h, int w) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, plane = (size_t)h * w;
    size_t fours = (images + 3) / 4;
    if (i >= fours * plane) return;
    size_t image = i / plane * 4, at = i % plane;
    float m[3], f[3];
    for (int c = 0; c < 3; ++c) m[c] = mean[c], f[c] = scale[c];
#pragma unroll
    for (size_t e = image; e < image + 4; ++e)
        for (int c = 0; c < 3; ++c)
            out[(e * 3 + c) * plane + at] = (in[(e * plane + at) * 3 + c] / 255.f - m[c]) * f[c];
}
