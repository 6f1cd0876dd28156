// Walks of a knight on a board with holes: how many walks of `steps` moves end on each field, modulo a prime,
// when `start` walks begin on each. A move onto a hole ends nowhere; a walk may begin on one.
#include <cuda_runtime.h>
#include <cstdint>

static const unsigned P = 998244353u;

__global__ void hop(const unsigned* __restrict__ from, const uint8_t* __restrict__ open,
                    unsigned* __restrict__ to, int h, int w) {
    const int dx[8] = {1, 2, 2, 1, -1, -2, -2, -1};
    const int dy[8] = {-2, -1, 1, 2, 2, 1, -1, -2};
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned a = 0, b = 0;
    #pragma unroll
    for (int d = 0; d < 8; d++) {
        int u = x + dx[d], v = y + dy[d];
        unsigned c = (u >= 0 && u < w && v >= 0 && v < h) ? from[(size_t)v * w + u] : 0u;
        if (d < 4) a += c; else b += c;
    }
    unsigned sum = a % P + b % P;
    if (sum >= P) sum -= P;
    to[(size_t)y * w + x] = open[(size_t)y * w + x] ? sum : 0u;
}

void knight(const unsigned* start, const uint8_t* open, unsigned* counts, int h, int w, int steps) {
    size_t bytes = (size_t)h * w * sizeof(unsigned);
    if (steps < 1) {
        cudaMemcpyAsync(counts, start, bytes, cudaMemcpyDeviceToDevice, 0);
        return;
    }
    unsigned* other;
    cudaMallocAsync(&other, bytes, 0);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    const unsigned* from = start;
    for (int s = 0; s < steps; s++) {
        unsigned* to = (steps - 1 - s) % 2 ? other : counts;
        hop<<<grid, block>>>(from, open, to, h, w);
        from = to;
    }
    cudaFreeAsync(other, 0);
}
