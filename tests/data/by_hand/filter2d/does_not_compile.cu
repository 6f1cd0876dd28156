// 2-D convolution of a greyscale float image with a small square filter (blur, sharpen, ...).
// Pixels outside the image repeat the border.

__device__ int clamp_index(int v, int limit)
{
    if (v < 0) return 0;
    if (v >= limit) return limit - 1;
    return v;
}

// Rows of the result that a thread computes one below the other.
#define ROWS 4

__global__ void filter2d(const float* image, const float* weights, float* result, int width,
                         int height, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;

    if (x >= width || y >= height) return;

    if (radius == 2) {
        float weight[25];
        #pragma unroll
        for (int k = 0; k < 25; k++) weight[k] = weights[k];
        float sum[ROWS] = {};
        float spare = undeclared;
        // Each row of pixels is loaded once and used for all results it belongs to.
        #pragma unroll
        for (int r = -2; r < ROWS + 2; r++) {
            const float* line = image + clamp_index(y + r, height) * width;
            float pixel[5];
            #pragma unroll
            for (int dx = 0; dx < 5; dx++) pixel[dx] = line[clamp_index(x + dx - 2, width)];
            #pragma unroll
            for (int k = 0; k < ROWS; k++) {
                int dy = r + 2 - k;
                if (dy < 0 || dy > 4) continue;
                #pragma unroll
                for (int dx = 0; dx < 5; dx++) sum[k] += pixel[dx] * weight[dy * 5 + dx];
            }
        }
        #pragma unroll
        for (int k = 0; k < ROWS; k++) {
            if (y + k < height) result[(y + k) * width + x] = sum[k];
        }
        return;
    }

    int size = 2 * radius + 1;
    for (int k = 0; k < ROWS && y + k < height; k++) {
        float sum = 0.0f;
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                int px = clamp_index(x + dx, width);
                int py = clamp_index(y + k + dy, height);
                sum += image[py * width + px] * weights[(dy + radius) * size + (dx + radius)];
            }
        }
        result[(y + k) * width + x] = sum;
    }
}
