// Local contrast: every pixel less the mean of its 5x5 neighbourhood (cut at the border of the picture), divided by
// the standard deviation there. Half-precision picture, everything else in float.
#include <cuda_fp16.h>

extern "C" __global__ void localcontrast(const __half* picture, float* out, float* mean, int height, int width, float eps)
{
    const int x = blockIdx.x * 128 + threadIdx.x;
    const int top = blockIdx.y * 16;
    if (x >= width) return;
    const int x0 = max(x - 2, 0), x1 = min(x + 2, width - 1);
    float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f, e = 0.0f;  // sums of the rows y-2 .. y+2
    for (int v = top - 2; v < min(top + 16, height) + 2; ++v) {
        a = b;
        b = c;
        c = d;
        d = e;
        e = 0.0f;
        if (v >= 0 && v < height)
            for (int u = x0; u <= x1; ++u) e += __half2float(picture[(size_t)v * width + u]);
        const int y = v - 2;
        if (y < top) continue;
        const int y0 = max(y - 2, 0), y1 = min(y + 2, height - 1);
        const float count = (float)((x1 - x0 + 1) * (y1 - y0 + 1));
        const float m = (a + b + c + d + e) / count;
        float squares = 0.0f;
        for (int w = y0; w <= y1; ++w)
            for (int u = x0; u <= x1; ++u) {
                const float off = __half2float(picture[(size_t)w * width + u]) - m;
                squares = fmaf(off, off, squares);
            }
        const size_t here = (size_t)y * width + x;
        mean[here] = m;
        out[here] = (__half2float(picture[here]) - m) / sqrtf(squares / count + eps);
    }
}
