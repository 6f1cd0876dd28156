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

__global__ void halve(const float* src, int w, int h, float* dst, int w1, int h1)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w1 && y < h1) dst[(size_t)y * w1 + x] = texel(src, w, h, x, y);
}

// Two levels a launch, for a first level that halves evenly: 16 x 16 texels of it stay in shared memory, and 8 x 8 of
// the second are made from them without another trip through memory.
__global__ void quarter(const float* src, int w, int h, float* dst, int w1, int h1)
{
    __shared__ float tile[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float v = 0.0f;
    if (x < w1 && y < h1) {
        v = texel(src, w, h, x, y);
        dst[(size_t)y * w1 + x] = v;
    }
    tile[ty][tx] = v;
    __syncthreads();
    int w2 = w1 / 2, h2 = h1 / 2;
    x = blockIdx.x * 8 + tx;
    y = blockIdx.y * 8 + ty;
    if (tx < 8 && ty < 8 && x < w2 && y < h2) {
        float upper = 0.5f * tile[2 * ty][2 * tx] + 0.5f * tile[2 * ty][2 * tx + 1];
        float lower = 0.5f * tile[2 * ty + 1][2 * tx] + 0.5f * tile[2 * ty + 1][2 * tx + 1];
        dst[(size_t)w1 * h1 + (size_t)y * w2 + x] = 0.5f * upper + 0.5f * lower;
    }
}

extern "C" void mipchain(const float* image, float* chain, int w, int h)
{
    dim3 threads(32, 8);
    const float* src = image;
    while (w > 1 || h > 1) {
        int w1 = w > 1 ? w / 2 : 1, h1 = h > 1 ? h / 2 : 1;
        if (w1 > 1 && h1 > 1 && w1 * h1 % 16 == 0) {      // whole 4 x 4 patches: the next step has no odd side
            int w2 = w1 / 2, h2 = h1 / 2;
            quarter<<<dim3((w1 + 15) / 16, (h1 + 15) / 16), dim3(16, 16)>>>(src, w, h, chain, w1, h1);
            src = chain + (size_t)w1 * h1;
            chain += (size_t)w1 * h1 + (size_t)w2 * h2;
            w = w2;
            h = h2;
            continue;
        }
        dim3 blocks((w1 + 31) / 32, (h1 + 7) / 8);
        halve<<<blocks, threads>>>(src, w, h, chain, w1, h1);
        src = chain;
        chain += (size_t)w1 * h1;
        w = w1;
        h = h1;
    }
}
