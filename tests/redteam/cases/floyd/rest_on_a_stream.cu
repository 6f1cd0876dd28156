#include <cuda_runtime.h>
constexpr int kTile = 32, kFar = 1 << 29;
// The square tile at (bi, bj) by way of the 32 places of tile b.
__device__ int load(const int* d, int n, int i, int j) {
    return i < n && j < n ? d[(size_t)i * n + j] : kFar;
}
__global__ void corner(int* d, int n, int b) {
    __shared__ int own[kTile][kTile + 1];
    int x = threadIdx.x, y = threadIdx.y, i = b * kTile + y, j = b * kTile + x;
    own[y][x] = load(d, n, i, j);
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
        int way = own[y][k] + own[k][x];
        __syncthreads();
        if (way < own[y][x]) own[y][x] = way;
        __syncthreads();
    }
    if (i < n && j < n) d[(size_t)i * n + j] = own[y][x];
}
__global__ void cross(int* d, int n, int b) {
    __shared__ int middle[kTile][kTile + 1], own[kTile][kTile + 1];
    if (blockIdx.x == b) return;
    int x = threadIdx.x, y = threadIdx.y;
    bool row = blockIdx.y == 0;
    int i = (row ? b : blockIdx.x) * kTile + y, j = (row ? blockIdx.x : b) * kTile + x;
    middle[y][x] = load(d, n, b * kTile + y, b * kTile + x);
    own[y][x] = load(d, n, i, j);
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
        int way = row ? middle[y][k] + own[k][x] : own[y][k] + middle[k][x];
        __syncthreads();
        if (way < own[y][x]) own[y][x] = way;
        __syncthreads();
    }
    if (i < n && j < n) d[(size_t)i * n + j] = own[y][x];
}
__global__ void rest(int* d, int n, int b) {
    __shared__ int left[kTile][kTile + 1], top[kTile][kTile + 1];
    if (blockIdx.x == b || blockIdx.y == b) return;
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * kTile + y, j = blockIdx.x * kTile + x;
    left[y][x] = load(d, n, i, b * kTile + x);
    top[y][x] = load(d, n, b * kTile + y, j);
    int best = load(d, n, i, j);
    __syncthreads();
    for (int k = 0; k < kTile; ++k) best = min(best, left[y][k] + top[k][x]);
    if (i < n && j < n) d[(size_t)i * n + j] = best;
}
extern "C" void floyd(int* d, int n) {
    int tiles = (n + kTile - 1) / kTile;
    dim3 threads(kTile, kTile);
    // The rest of one tile and the corner of the next may overlap.
    static cudaStream_t aside = nullptr;
    if (!aside) cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
    for (int b = 0; b < tiles; ++b) {
        corner<<<1, threads>>>(d, n, b);
        cross<<<dim3(tiles, 2), threads>>>(d, n, b);
        rest<<<dim3(tiles, tiles), threads, 0, aside>>>(d, n, b);
    }
}
