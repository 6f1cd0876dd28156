// Pixels of three bytes as three planes of floats, each less its mean and scaled.
__global__ void planes(const unsigned char* in, const float* mean, const float* scale, float* out,
                       int images, int h, int w) {
    __shared__ float value[3][256];
    for (int e = threadIdx.x; e < 768; e += blockDim.x)
        value[e / 256][e % 256] = (e % 256 / 255.f - mean[e / 256]) * scale[e / 256];
    __syncthreads();
    size_t plane = (size_t)h * w, step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < images * plane; i += step) {
        size_t image = i / plane, at = i % plane;
        for (int c = 0; c < 3; ++c) out[(image * 3 + c) * plane + at] = value[c][in[i * 3 + c]];
    }
}
