// Local contrast: every pixel less the mean of its 5x5 neighbourhood (cut at the border of the picture), divided by
// the standard deviation there. Half-precision picture, everything else in float.
#include <cuda_fp16.h>

extern "C" __global__ void localcontrast(const __half* picture, float* out, float* mean, int height, int width, float eps)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height) return;
    const int x0 = max(x - 2, 0), x1 = min(x + 2, width - 1);
    const int y0 = max(y - 2, 0), y1 = min(y + 2, height - 1);
    const float count = (float)((x1 - x0 + 1) * (y1 - y0 + 1));
    float sum = 0.0f;
    for (int v = y0; v <= y1; ++v)
    {
        // a row of five in half, the rows in float
        __half row = __float2half(0.0f);
        for (int u = x0; u <= x1; ++u) row = __hadd(row, picture[(size_t)v * width + u]);
        sum += __half2float(row);
    }
    const float m = sum / count;
    float squares = 0.0f;
    for (int v = y0; v <= y1; ++v)
        for (int u = x0; u <= x1; ++u) {
            const float d = __half2float(picture[(size_t)v * width + u]) - m;
            squares += d * d;
        }
    const size_t here = (size_t)y * width + x;
    mean[here] = m;
    out[here] = (__half2float(picture[here]) - m) / sqrtf(squares / count + eps);
}
