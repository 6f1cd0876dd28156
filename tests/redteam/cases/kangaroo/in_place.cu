// Every stone i lies back[i] stones (1 to 8) in front of stone i - back[i]. A kangaroo that stands on stone i pays toll[i],
// hops to i - back[i], and so on until it leaves the row (below stone 0). fare[i] is all that it pays, modulo 2^32.
// Pointer doubling: after round r every stone knows the stone reached after 2^r hops and the toll paid up to there.
#include <cuda_runtime.h>

__global__ void seed(const int* __restrict__ back, const unsigned* __restrict__ toll, int* __restrict__ to,
                     unsigned* __restrict__ paid, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int t = i - back[i];
    to[i] = t < 0 ? -1 : t;
    paid[i] = toll[i];
}

// In place: a stone that has already been moved on only brings its followers further, so no second pair of buffers is needed.
__global__ void leap(int* to, unsigned* paid, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int t = to[i];
    if (t < 0) return;
    unsigned p = paid[i] + paid[t];
    int far = to[t];
    paid[i] = p;
    to[i] = far;
}

extern "C" void kangaroo(const int* back, const unsigned* toll, unsigned* fare, int n) {
    if (n <= 0) return;
    int* to;
    cudaMallocAsync((void**)&to, sizeof(int) * (size_t)n, 0);
    int grid = (n + 255) / 256;
    seed<<<grid, 256>>>(back, toll, to, fare, n);
    for (long long reach = 1; reach < n; reach *= 2) leap<<<grid, 256>>>(to, fare, n);
    cudaFreeAsync(to, 0);
}
