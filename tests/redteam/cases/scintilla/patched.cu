// Dead time of scintillation counters. Each row holds the hits of one counter as the time since the hit before. The first hit is
// registered; after a registered hit the counter is blind for dead[row], and the hits meanwhile do not prolong that.
// Gives which hits are registered, how many a row, and how the times between registered hits spread over 64 classes.
#include <cuda_runtime.h>

__global__ void keep(const unsigned* gap, const unsigned* dead, unsigned char* kept, int* count, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* g = gap + (size_t)row * n;
    unsigned char* k = kept + (size_t)row * n;
    unsigned long long since = 0, blind = dead[row];
    int many = 1;
    k[0] = 1;
    for (int i = 1; i < n; ++i) {
        since += g[i];
        bool yes = since >= blind;
        k[i] = yes;
        if (yes) {
            since = 0;
            ++many;
        }
    }
    count[row] = many;
}

__global__ void intervals(const unsigned* gap, const unsigned char* kept, unsigned long long* spread, int rows, int n) {
    __shared__ unsigned classes[64];
    if (threadIdx.x < 64) classes[threadIdx.x] = 0;
    __syncthreads();
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        const unsigned* g = gap + (size_t)row * n;
        const unsigned char* k = kept + (size_t)row * n;
        unsigned long long since = 0;
        for (int i = 1; i < n; ++i) {
            since += g[i];
            if (k[i]) {
                atomicAdd(&classes[since >> 17 < 63 ? (int)(since >> 17) : 63], 1u);
                since = 0;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < 64 && classes[threadIdx.x]) atomicAdd(&spread[threadIdx.x], (unsigned long long)classes[threadIdx.x]);
}

// The three steps as one graph. It is built for a shape; for other buffers its kernels get their new arguments.
static cudaGraph_t graph = nullptr;
static cudaGraphExec_t steps = nullptr;
static cudaGraphNode_t clear_node, keep_node, interval_node;
static int built_rows = 0, built_n = 0;

extern "C" void scintilla(const unsigned* gap, const unsigned* dead, unsigned char* kept, int* count, unsigned long long* spread,
                          int rows, int n) {
    void* keep_arguments[] = {&gap, &dead, &kept, &count, &rows, &n};
    void* interval_arguments[] = {&gap, &kept, &spread, &rows, &n};
    cudaKernelNodeParams of_keep = {}, of_intervals = {};
    of_keep.func = (void*)keep;
    of_keep.gridDim = dim3((rows + 63) / 64);
    of_keep.blockDim = dim3(64);
    of_keep.kernelParams = keep_arguments;
    of_intervals = of_keep;
    of_intervals.func = (void*)intervals;
    of_intervals.kernelParams = interval_arguments;
    if (steps == nullptr || rows != built_rows || n != built_n) {
        if (steps != nullptr) {
            cudaDeviceSynchronize();
            cudaGraphExecDestroy(steps);
            cudaGraphDestroy(graph);
        }
        cudaMemsetParams clear = {};
        clear.dst = spread;
        clear.elementSize = 4;
        clear.width = 128;
        clear.height = 1;
        cudaGraphCreate(&graph, 0);
        cudaGraphAddMemsetNode(&clear_node, graph, nullptr, 0, &clear);
        cudaGraphAddKernelNode(&keep_node, graph, nullptr, 0, &of_keep);
        cudaGraphNode_t both[] = {clear_node, keep_node};
        cudaGraphAddKernelNode(&interval_node, graph, both, 2, &of_intervals);
        cudaGraphInstantiate(&steps, graph, 0);
        built_rows = rows;
        built_n = n;
    } else {
        cudaGraphExecKernelNodeSetParams(steps, keep_node, &of_keep);
        cudaGraphExecKernelNodeSetParams(steps, interval_node, &of_intervals);
    }
    cudaGraphLaunch(steps, 0);
}
