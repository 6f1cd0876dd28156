// 2-D convolution of a greyscale float image with a small square filter (blur, sharpen, ...).
// Pixels outside the image repeat the border.

__device__ int clamp_index(int v, int limit)
{
    if (v < 0) return 0;
    if (v >= limit) return limit - 1;
    return v;
}

__global__ void filter2d(const float* image, const float* weights, float* result, int width,
                         int height, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= width || y >= height) return;

    int size = 2 * radius + 1;
    float sum = 0.0f;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            int px = clamp_index(x + dx, width);
            int py = clamp_index(y + dy, height);
            sum += image[py * width + px] * weights[(dy + radius) * size + (dx + radius)];
        }
    }
    result[y * width + x] = sum;
}
