// Full mip chain of a one-channel image of any size. A level has max(1, w / 2) x max(1, h / 2) texels; even sides halve with two
// equal taps, odd ones with the three taps of the polyphase box filter, sides of one stay. The levels from 1 on lie one
// behind the other in `chain`; what is behind the 1 x 1 level is left alone.
#include <cuda_runtime.h>
#include <cstddef>

__device__ __forceinline__ int taps(int n, int i, float* weight)
{
    if (n == 1) {
        weight[0] = 1.0f;
        return 1;
    }
    if (n % 2 == 0) {
        weight[0] = weight[1] = 0.5f;
        return 2;
    }
    int m = n / 2;
    weight[0] = (float)(m - i) / (float)n;
    weight[1] = (float)m / (float)n;
    weight[2] = (float)(i + 1) / (float)n;
    return 3;
}

__device__ __forceinline__ float texel(const float* src, int w, int h, int x, int y)
{
    float wx[3], wy[3];
    int nx = taps(w, x, wx), ny = taps(h, y, wy);
    float sum = 0.0f;
    for (int b = 0; b < ny; ++b) {
        const float* line = src + (size_t)(2 * y + b) * w + 2 * x;
        float across = 0.0f;
        for (int a = 0; a < nx; ++a) across += wx[a] * line[a];
        sum += wy[b] * across;
    }
    return sum;
}

__global__ void halve(const float* src, int w, int h, float* dst, int w1, int y0, int y1)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = y0 + blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w1 && y < y1) dst[(size_t)y * w1 + x] = texel(src, w, h, x, y);
}

extern "C" void mipchain(const float* image, float* chain, int w, int h)
{
    // the large first level in two bands, the lower one on a stream of its own
    static cudaStream_t side = nullptr;
    static cudaEvent_t done;
    if (!side) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    dim3 threads(32, 8);
    const float* src = image;
    bool first = true;
    while (w > 1 || h > 1) {
        int w1 = w > 1 ? w / 2 : 1, h1 = h > 1 ? h / 2 : 1;
        int cut = first && h1 >= 64 ? h1 / 2 : h1;
        if (cut < h1) {
            halve<<<dim3((w1 + 31) / 32, (h1 - cut + 7) / 8), threads, 0, side>>>(src, w, h, chain, w1, cut, h1);
            cudaEventRecord(done, side);
        }
        halve<<<dim3((w1 + 31) / 32, (cut + 7) / 8), threads>>>(src, w, h, chain, w1, 0, cut);
        if (cut < h1) cudaStreamWaitEvent(0, done, 0);
        first = false;
        src = chain;
        chain += (size_t)w1 * h1;
        w = w1;
        h = h1;
    }
}
