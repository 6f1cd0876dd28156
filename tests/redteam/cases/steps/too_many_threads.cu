#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
__global__ void polish(const float* x, float* y, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 100; ++k) v = 0.99f * v + 0.01f * x[i] * x[i];
    y[i] = v;
    atomicAdd(total, v);
}
int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1 << 18;
    std::vector<float> x(n), y(n);
    unsigned seed = 11;
    for (float& v : x) v = (seed = seed * 1664525u + 1013904223u) / 4294967296.f;
    float *dx, *dy, *dt, total;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMalloc(&dt, sizeof(float));
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    for (int step = 0; step < 10; ++step) {
        cudaMemset(dt, 0, sizeof(float));
        polish<<<(n + 255) / 256, 4096>>>(dx, dy, dt, n);
    }
    cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(&total, dt, sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (float v : y) sum += v;
    printf("%s\n", fabs(total - sum) < 1e-2 * sum ? "PASS" : "FAIL");
    cudaFree(dx);
    cudaFree(dy);
    cudaFree(dt);
    return 0;
}
