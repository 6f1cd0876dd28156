#include <cuda_runtime.h>

// So many steps of what a wind leaves: each place takes a share of what lies a reach further on, round and round.
__global__ void blown(const float* from, float* to, int n, int reach, float share) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] + share * (from[((long long)i + reach) % n] - from[i]);
}

static cudaGraphExec_t recorded(const float* x, float* y, float* other, int n, int steps, int reach, float share) {
    cudaStream_t side;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaStreamBeginCapture(side, cudaStreamCaptureModeThreadLocal);
    cudaMemcpyAsync(steps % 2 ? other : y, x, n * sizeof(float), cudaMemcpyDeviceToDevice, side);
    for (int s = steps; s > 0; --s)
        blown<<<(n + 255) / 256, 256, 0, side>>>(s % 2 ? other : y, s % 2 ? y : other, n, reach, share);
    cudaStreamEndCapture(side, &graph);
    cudaGraphExec_t made;
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(side);
    return made;
}

static struct {
    const float* x;
    float *y, *other;
    int n, steps, reach;
    float share;
    cudaGraphExec_t graph;
} kept;
static int room;

extern "C" void zephyr(const float* x, float* y, int n, int steps, int reach, float share) {
    bool grown = n > room;
    if (grown) {
        cudaFree(kept.other);
        cudaMalloc(&kept.other, n * sizeof(float));
        room = n;
    }
    bool as_before = !grown && kept.graph && kept.x == x && kept.y == y && kept.n == n && kept.steps == steps &&
                     kept.reach == reach && kept.share == share;
    if (!as_before) {
        if (kept.graph) {
            cudaStreamSynchronize(0);
            cudaGraphExecDestroy(kept.graph);
        }
        kept.graph = recorded(x, y, kept.other, n, steps, reach, share);
        kept.x = x;
        kept.y = y;
        kept.n = n;
        kept.steps = steps;
        kept.reach = reach;
        kept.share = share;
    }
    cudaGraphLaunch(kept.graph, 0);
}
