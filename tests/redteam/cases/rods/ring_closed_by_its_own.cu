// Heat in two rings, said every tenth step: `rods NUMBER STEPS`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void step(const float* from, float* to, int n, float rate, int number) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = from[i ? i - 1 : n - 1], right = from[i + 1 < n ? i + 1 : i];
    to[i] = from[i] + rate * (left - 2.f * from[i] + right) + (i == number % n ? 0.5f : 0.f);
}

__global__ void warmth(const float* of, float* sums, int n) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? of[i] * of[i] : 0.f;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 20;
    int blocks = (n + 255) / 256;
    std::vector<float> first(n), sums(blocks);
    for (int ring = 0; ring < 2; ++ring) {
        for (int i = 0; i < n; ++i) first[i] = (i * (ring ? 37 : 11) % 101) / 10.f;
        float *a, *b, *s;
        cudaMalloc(&a, n * sizeof(float));
        cudaMalloc(&b, n * sizeof(float));
        cudaMalloc(&s, blocks * sizeof(float));
        cudaMemcpy(a, first.data(), n * sizeof(float), cudaMemcpyHostToDevice);
        for (int k = 0; k < steps; ++k) {
            step<<<blocks, 256>>>(a, b, n, ring ? 0.2f : 0.1f, k);
            float* t = a;
            a = b;
            b = t;
            if (k % 10) continue;
            warmth<<<blocks, 256>>>(a, s, n);
            cudaMemcpy(sums.data(), s, blocks * sizeof(float), cudaMemcpyDeviceToHost);
            double all = 0;
            for (float v : sums) all += v;
            printf("ring %d step %d: %.1f\n", ring, k, all / n);
        }
        cudaFree(a);
        cudaFree(b);
        cudaFree(s);
    }
    return 0;
}
