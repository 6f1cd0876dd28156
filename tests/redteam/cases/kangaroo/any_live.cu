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

__global__ void leap(const int* __restrict__ to, const unsigned* __restrict__ paid, int* __restrict__ to2,
                     unsigned* __restrict__ paid2, int* live, int r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int t = to[i];
    unsigned p = paid[i];
    if (!live[r]) {   // nobody had anywhere to go any more in the round before
        to2[i] = t;
        paid2[i] = p;
        return;
    }
    if (t >= 0) {
        p += paid[t];
        t = to[t];
    }
    to2[i] = t;
    paid2[i] = p;
    if (t >= 0) live[r + 1] = 1;
}

extern "C" void kangaroo(const int* back, const unsigned* toll, unsigned* fare, int n) {
    if (n <= 0) return;
    int *to, *to2;
    unsigned *paid, *paid2;
    cudaMallocAsync((void**)&to, sizeof(int) * (size_t)n, 0);
    cudaMallocAsync((void**)&to2, sizeof(int) * (size_t)n, 0);
    cudaMallocAsync((void**)&paid, sizeof(unsigned) * (size_t)n, 0);
    cudaMallocAsync((void**)&paid2, sizeof(unsigned) * (size_t)n, 0);
    int* live;   // one flag per round
    cudaMallocAsync((void**)&live, 64 * sizeof(int), 0);
    cudaMemsetAsync(live, 0, 64 * sizeof(int), 0);
    cudaMemsetAsync(live, 1, sizeof(int), 0);
    int r = 0;
    int grid = (n + 255) / 256;
    seed<<<grid, 256>>>(back, toll, to, paid, n);
    // the longest way has n hops
    for (long long reach = 1; reach < n; reach *= 2) {
        leap<<<grid, 256>>>(to, paid, to2, paid2, live, r++, n);
        int* a = to; to = to2; to2 = a;
        unsigned* b = paid; paid = paid2; paid2 = b;
    }
    cudaMemcpyAsync(fare, paid, sizeof(unsigned) * (size_t)n, cudaMemcpyDeviceToDevice, 0);
    cudaFreeAsync(live, 0);
    cudaFreeAsync(to, 0);
    cudaFreeAsync(to2, 0);
    cudaFreeAsync(paid, 0);
    cudaFreeAsync(paid2, 0);
}
