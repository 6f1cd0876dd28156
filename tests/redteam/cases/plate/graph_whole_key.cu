// Jacobi sweeps of a heated plate with pinned cells, and the largest change of the last sweep.
#include <cuda_runtime.h>

__global__ void sweep(const float* __restrict__ from, float* __restrict__ to, const float* __restrict__ heat,
                      const unsigned char* __restrict__ pin, int h, int w, float* change) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t i = (size_t)y * w + x;
    float c = from[i];
    if (pin[i] == 0) {
        to[i] = c;
        return;
    }
    float up = y > 0 ? from[i - w] : c;
    float down = y < h - 1 ? from[i + w] : c;
    float left = x > 0 ? from[i - 1] : c;
    float right = x < w - 1 ? from[i + 1] : c;
    float v = 0.25f * (((up + down) + (left + right)) + heat[i]);
    to[i] = v;
    // A NaN has larger bits than any number and is reported.
    if (change) atomicMax((int*)change, __float_as_int(fabsf(v - c)));
}

extern "C" void plate(const float* start, const unsigned char* pin, const float* heat, float* u, float* change,
                      int h, int w, int sweeps) {
    size_t bytes = (size_t)h * w * sizeof(float);
    if (bytes == 0) return;
    // A sweep is short: the launches are recorded into a graph and replayed.
    static cudaGraphExec_t exec = nullptr;
    static cudaStream_t recorder = nullptr;
    struct Key {
        const void *start, *pin, *heat, *u, *change;
        int h, w, sweeps;
        bool operator==(const Key& o) const {
            return start == o.start && pin == o.pin && heat == o.heat && u == o.u && change == o.change && h == o.h &&
                   w == o.w && sweeps == o.sweeps;
        }
    };
    static Key key = {};
    static float* spare = nullptr;
    static size_t room = 0;
    const Key now = {start, pin, heat, u, change, h, w, sweeps};
    if (!recorder) cudaStreamCreateWithFlags(&recorder, cudaStreamNonBlocking);
    if (!exec || !(key == now)) {
        if (exec) {
            cudaDeviceSynchronize();
            cudaGraphExecDestroy(exec);
            exec = nullptr;
        }
        if (bytes > room) {
            cudaDeviceSynchronize();
            cudaFree(spare);
            cudaMalloc(&spare, bytes);
            room = bytes;
        }
        cudaGraph_t graph;
        cudaFuncAttributes loaded;
        cudaFuncGetAttributes(&loaded, sweep);  // load the kernel before the capture
        cudaStreamBeginCapture(recorder, cudaStreamCaptureModeRelaxed);
        cudaMemsetAsync(change, 0, sizeof(float), recorder);
        dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
        const float* from = start;
        for (int k = 0; k < sweeps; ++k) {
            float* to = (sweeps - k) & 1 ? u : spare;
            sweep<<<grid, block, 0, recorder>>>(from, to, heat, pin, h, w, k == sweeps - 1 ? change : nullptr);
            from = to;
        }
        if (sweeps <= 0) cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, recorder);
        cudaStreamEndCapture(recorder, &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphDestroy(graph);
        key = now;
    }
    cudaGraphLaunch(exec, 0);
}
