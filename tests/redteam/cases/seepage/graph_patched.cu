// Seepage through a porous sheet: `steps` relaxation steps, each cell moves towards the mean of its four neighbours
// by its own rate (held to 0..1). Beyond the border the border's own value counts.
#include <cuda_runtime.h>

#define BX 32
#define BY 8

__device__ __forceinline__ float relaxed(float c, float l, float r, float u, float d, float rate)
{
    const float k = fminf(fmaxf(rate, 0.0f), 1.0f);
    return fmaf(k, 0.25f * ((l + r) + (u + d)) - c, c);
}

__global__ void seep(const float* from, const float* rate, float* to, int h, int w)
{
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h) return;
    const size_t at = (size_t)y * w + x;
    const float c = from[at];
    const float l = x > 0 ? from[at - 1] : c, r = x < w - 1 ? from[at + 1] : c;
    const float u = y > 0 ? from[at - w] : c, d = y < h - 1 ? from[at + w] : c;
    to[at] = relaxed(c, l, r, u, d, rate[at]);
}

extern "C" void seepage(const float* level, const float* rate, float* out, int h, int w, int steps)
{
    static float* spare = nullptr;
    static size_t room = 0;
    const size_t need = (size_t)h * w;
    if (need > room) {
        cudaFree(spare);
        cudaMalloc(&spare, need * sizeof(float));
        room = need;
    }
    const dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    // The chain of steps is recorded once per shape; when the caller comes with other levels, the nodes get the
    // new pointers.
    static cudaStream_t side = nullptr;
    static cudaGraph_t graph = nullptr;
    static cudaGraphExec_t exec = nullptr;
    static int gh = 0, gw = 0, gs = 0;
    static float* gspare = nullptr;
    static const float* glevel = nullptr;
    static float* gout = nullptr;
    static cudaGraphNode_t* nodes = nullptr;
    if (steps < 1) return;
    if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    if (!exec || gh != h || gw != w || gs != steps || gspare != spare) {
        if (exec) { cudaGraphExecDestroy(exec); cudaGraphDestroy(graph); delete[] nodes; }
        cudaGraphCreate(&graph, 0);
        nodes = new cudaGraphNode_t[steps];
        const float* from = level;
        for (int s = 0; s < steps; ++s) {
            float* to = (steps - 1 - s) % 2 ? spare : out;
            void* args[] = { &from, &rate, &to, &h, &w };
            cudaKernelNodeParams p = {};
            p.func = (void*)seep;
            p.gridDim = grid;
            p.blockDim = block;
            p.kernelParams = args;
            cudaGraphAddKernelNode(&nodes[s], graph, s ? &nodes[s - 1] : nullptr, s ? 1 : 0, &p);
            from = to;
        }
        cudaGraphInstantiate(&exec, graph, 0);
        gh = h; gw = w; gs = steps; gspare = spare;
    } else if (glevel != level || gout != out) {
        const float* from = level;
        for (int s = 0; s < steps; ++s) {
            float* to = (steps - 1 - s) % 2 ? spare : out;
            void* args[] = { &from, &rate, &to, &h, &w };
            cudaKernelNodeParams p = {};
            p.func = (void*)seep;
            p.gridDim = grid;
            p.blockDim = block;
            p.kernelParams = args;
            cudaGraphExecKernelNodeSetParams(exec, nodes[s], &p);
            from = to;
        }
    }
    glevel = level; gout = out;
    cudaGraphLaunch(exec, 0);
}
