// Difference of two box means: out = mean over a square of radius near - mean over a square of radius far, with the
// border repeated outwards. Each mean is taken along the rows and then down the columns.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) along(const float* in, float* out, int h, int w, int r)
{
    int x = blockIdx.x * 256 + threadIdx.x;
    if (x >= w) return;
    for (int y = blockIdx.y; y < h; y += gridDim.y) {
        const float* row = in + (size_t)y * w;
        double s = 0.0;
        for (int k = -r; k <= r; ++k) s += row[min(max(x + k, 0), w - 1)];
        out[(size_t)y * w + x] = (float)(s / (2 * r + 1));
    }
}

// 64 cells down a thread: the sum slides, one cell comes in and one goes out; it is a double, so nothing is lost
__global__ void __launch_bounds__(256) down(const float* in, float* out, int h, int w, int r)
{
    int x = blockIdx.x * 256 + threadIdx.x;
    if (x >= w) return;
    for (int y0 = blockIdx.y * 64; y0 < h; y0 += gridDim.y * 64) {
        double s = 0.0;
        for (int k = -r; k <= r; ++k) s += in[(size_t)min(max(y0 + k, 0), h - 1) * w + x];
        int end = min(y0 + 64, h);
        for (int y = y0; y < end; ++y) {
            out[(size_t)y * w + x] = (float)(s / (2 * r + 1));
            s += (double)in[(size_t)min(y + r + 1, h - 1) * w + x] - (double)in[(size_t)max(y - r, 0) * w + x];
        }
    }
}

__global__ void __launch_bounds__(256) differ(const float* a, const float* b, float* out, int h, int w)
{
    int x = blockIdx.x * 256 + threadIdx.x;
    if (x >= w) return;
    for (int y = blockIdx.y; y < h; y += gridDim.y) {
        size_t i = (size_t)y * w + x;
        out[i] = a[i] - b[i];
    }
}

extern "C" void lantern(const float* img, float* out, int h, int w, int near, int far)
{
    size_t bytes = sizeof(float) * h * w;
    float *s = nullptr, *t = nullptr, *a = nullptr, *b = nullptr;
    cudaMalloc(&s, bytes);
    cudaMalloc(&t, bytes);
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    dim3 grid((w + 255) / 256, h < 1024 ? h : 1024);
    along<<<grid, 256>>>(img, s, h, w, near);
    down<<<grid, 256>>>(s, a, h, w, near);
    along<<<grid, 256>>>(img, t, h, w, far);
    down<<<grid, 256>>>(t, b, h, w, far);
    differ<<<grid, 256>>>(a, b, out, h, w);
    cudaFree(s);
    cudaFree(t);
    cudaFree(a);
    cudaFree(b);
}
