// Local contrast: every pixel less the mean of its 5x5 neighbourhood (cut at the border of the picture), divided by
// the standard deviation there. Half-precision picture, everything else in float.
#include <cuda_fp16.h>

extern "C" __global__ void localcontrast(const __half* picture, float* out, float* mean, int height, int width, float eps)
{
    __shared__ __half tile[12][36];
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height) return;
    // the block and two pixels around it
    for (int v = threadIdx.y; v < 12; v += 8)
        for (int u = threadIdx.x; u < 36; u += 32) {
            const int gx = (int)blockIdx.x * 32 + u - 2, gy = (int)blockIdx.y * 8 + v - 2;
            if (gx >= 0 && gx < width && gy >= 0 && gy < height) tile[v][u] = picture[(size_t)gy * width + gx];
        }
    __syncthreads();
    const int x0 = max(x - 2, 0), x1 = min(x + 2, width - 1);
    const int y0 = max(y - 2, 0), y1 = min(y + 2, height - 1);
    const float count = (float)((x1 - x0 + 1) * (y1 - y0 + 1));
    float sum = 0.0f;
    for (int v = y0; v <= y1; ++v)
        for (int u = x0; u <= x1; ++u) sum += __half2float(tile[v - (int)blockIdx.y * 8 + 2][u - (int)blockIdx.x * 32 + 2]);
    const float m = sum / count;
    float squares = 0.0f;
    for (int v = y0; v <= y1; ++v)
        for (int u = x0; u <= x1; ++u) {
            const float d = __half2float(tile[v - (int)blockIdx.y * 8 + 2][u - (int)blockIdx.x * 32 + 2]) - m;
            squares += d * d;
        }
    const size_t here = (size_t)y * width + x;
    mean[here] = m;
    out[here] = (__half2float(tile[threadIdx.y + 2][threadIdx.x + 2]) - m) / sqrtf(squares / count + eps);
}
