#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
__global__ void forces(const float* x, float* f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = 0; k < n; ++k) {
        float d = x[k] - x[i];
        s += d / (d * d + 0.01f);
    }
    f[i] = s;
}
__global__ void move(float* x, const float* f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1e-6f * f[i];
}
int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 4096;
    std::vector<float> x(n);
    unsigned seed = 7;
    for (float& v : x) v = (seed = seed * 1664525u + 1013904223u) / 4294967296.f;
    float *dx, *df;
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&df, n * sizeof(float));
    cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    for (int step = 0; step < 5; ++step) {
        forces<<<(n + 127) / 128, 128>>>(dx, df, n);
        move<<<(n + 127) / 128, 128>>>(dx, df, n);
    }
    cudaMemcpy(x.data(), dx, n * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (float v : x) sum += v;
    printf("mean %.4f\n", sum / n);
    printf("%s\n", sum > 0 ? "PASS" : "FAIL");
    cudaFree(dx);
    cudaFree(df);
    return 0;
}
