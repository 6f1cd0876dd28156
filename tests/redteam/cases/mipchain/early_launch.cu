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

// The next level's blocks may be set up as soon as all of this level's have begun; they wait for its
// results, which is what the dependency wait is for, before they touch memory.
__global__ void halve(const float* src, int w, int h, float* dst, int w1, int h1)
{
    cudaTriggerProgrammaticLaunchCompletion();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    cudaGridDependencySynchronize();
    if (x < w1 && y < h1) dst[(size_t)y * w1 + x] = texel(src, w, h, x, y);
}

extern "C" void mipchain(const float* image, float* chain, int w, int h)
{
    dim3 threads(32, 8);
    const float* src = image;
    bool follows = false;
    while (w > 1 || h > 1) {
        int w1 = w > 1 ? w / 2 : 1, h1 = h > 1 ? h / 2 : 1;
        cudaLaunchAttribute early{};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t how{};
        how.gridDim = dim3((w1 + 31) / 32, (h1 + 7) / 8);
        how.blockDim = threads;
        how.attrs = &early;
        how.numAttrs = follows ? 1 : 0;          // the first level comes after whatever the caller had before
        cudaLaunchKernelEx(&how, halve, src, w, h, chain, w1, h1);
        follows = true;
        src = chain;
        chain += (size_t)w1 * h1;
        w = w1;
        h = h1;
    }
}
