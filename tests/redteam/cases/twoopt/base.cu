#include <cuda_runtime.h>

__device__ int apart(const int* x, const int* y, int i, int j) { return abs(x[i] - x[j]) + abs(y[i] - y[j]); }

// What is won when the way from the place behind i to j is gone the other way round.
__device__ int won(const int* x, const int* y, int i, int j, int n) {
    int a = (i + 1) % n, b = (j + 1) % n;
    return apart(x, y, i, a) + apart(x, y, j, b) - apart(x, y, i, j) - apart(x, y, a, b);
}

__global__ void partners(const int* x, const int* y, int* with, int* most, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0, at = 0;
    for (int j = i + 1; j < n; ++j) {
        int v = won(x, y, i, j, n);
        if (v > best) best = v, at = j;
    }
    with[i] = at;
    most[i] = best;
}

__global__ void choose(const int* with, const int* most, int* move, int* gain, int n) {
    int best = 0, at = 0;
    for (int i = 0; i < n; ++i)
        if (most[i] > best) best = most[i], at = i;
    move[0] = at;
    move[1] = best ? with[at] : 0;
    *gain = best;
}

// The exchange of two edges of a round trip that wins most, the first of equals; none (0, 0) where nothing is won.
extern "C" void twoopt(const int* x, const int* y, int* move, int* gain, int n) {
    int *with, *most;
    cudaMalloc(&with, n * sizeof(int));
    cudaMalloc(&most, n * sizeof(int));
    partners<<<(n + 63) / 64, 64>>>(x, y, with, most, n);
    choose<<<1, 1>>>(with, most, move, gain, n);
    cudaFree(with);
    cudaFree(most);
}
