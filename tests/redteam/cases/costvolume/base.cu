// Correlation layer of an optical flow network: the mean product of the features of each point of the first
// picture with those of the second around it, for all shifts up to `radius` in both directions. What lies outside
// of the second picture counts as zero.
extern "C" __global__ void costvolume(const float* first, const float* second, float* volume, int channels, int h,
                                      int w, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t plane = (size_t)h * w;
    const float* a = first + blockIdx.z * (size_t)channels * plane + (size_t)y * w + x;
    const float* b = second + blockIdx.z * (size_t)channels * plane;
    int side = 2 * radius + 1;
    float* out = volume + (size_t)blockIdx.z * side * side * plane + (size_t)y * w + x;
    float scale = 1.0f / channels;
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
            int v = y + dy, u = x + dx;
            float sum = 0.0f;
            if (v >= 0 && v < h && u >= 0 && u < w) {
                const float* other = b + (size_t)v * w + u;
                for (int c = 0; c < channels; ++c) sum = fmaf(a[c * plane], other[c * plane], sum);
            }
            *out = sum * scale;
            out += plane;
        }
}
