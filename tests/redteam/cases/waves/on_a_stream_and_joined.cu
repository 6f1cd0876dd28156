#include <cuda_runtime.h>

// A wave on a string that is held at both ends, step by step.
__global__ void step(const float* before, const float* now, float* next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? now[i - 1] : 0.f, right = i + 1 < n ? now[i + 1] : 0.f;
    next[i] = 2.f * now[i] - before[i] + 0.25f * (left - 2.f * now[i] + right);
}

extern "C" void waves(const float* u, float* out, int n, int steps) {
    float* room;
    cudaMalloc(&room, 3 * (size_t)n * sizeof(float));
    float *a = room, *b = room + n, *c = room + 2 * (size_t)n;
    cudaMemcpy(a, u, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(b, u, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaStream_t side;
    cudaEvent_t ready, done;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaEventRecord(ready, 0);
    cudaStreamWaitEvent(side, ready, 0);
    for (int s = 0; s < steps; ++s) {
        step<<<(n + 255) / 256, 256, 0, side>>>(a, b, c, n);
        float* t = a;
        a = b, b = c, c = t;
    }
    cudaEventRecord(done, side);
    cudaStreamWaitEvent(0, done, 0);
    cudaEventDestroy(ready);
    cudaEventDestroy(done);
    cudaStreamDestroy(side);
    cudaMemcpy(out, b, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(room);
}
