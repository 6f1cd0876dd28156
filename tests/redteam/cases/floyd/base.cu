#include <cuda_runtime.h>
// All shortest ways between places, in place: by way of one place more each time. Lengths are positive.
__global__ void by_way_of(int* d, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    int way = d[(size_t)i * n + k] + d[(size_t)k * n + j];
    if (way < d[(size_t)i * n + j]) d[(size_t)i * n + j] = way;
}
extern "C" void floyd(int* d, int n) {
    for (int k = 0; k < n; ++k) by_way_of<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(d, n, k);
}
