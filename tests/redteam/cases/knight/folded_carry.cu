// Walks of a knight on a board with holes: how many walks of `steps` moves end on each field, modulo a prime,
// when `start` walks begin on each. A move onto a hole ends nowhere; a walk may begin on one.
#include <cuda_runtime.h>
#include <cstdint>

static const unsigned P = 998244353u;

__device__ unsigned fold(unsigned long long sum) {
    unsigned low = (unsigned)sum % P;
    if (sum >> 32) low += 301989884u;
    return low >= P ? low - P : low;
}

__global__ void hop(const unsigned* __restrict__ from, const uint8_t* __restrict__ open,
                    unsigned* __restrict__ to, int h, int w) {
    const int dx[8] = {1, 2, 2, 1, -1, -2, -2, -1};
    const int dy[8] = {-2, -1, 1, 2, 2, 1, -1, -2};
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned long long sum = 0;
    for (int d = 0; d < 8; d++) {
        int u = x + dx[d], v = y + dy[d];
        if (u >= 0 && u < w && v >= 0 && v < h) sum += from[(size_t)v * w + u];
    }
    to[(size_t)y * w + x] = open[(size_t)y * w + x] ? fold(sum) : 0u;
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
