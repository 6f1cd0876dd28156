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
    unsigned long long sum = 0;
    for (int d = 0; d < 8; d++) {
        int u = x + dx[d], v = y + dy[d];
        if (u >= 0 && u < w && v >= 0 && v < h) sum += from[(size_t)v * w + u];
    }
    to[(size_t)y * w + x] = open[(size_t)y * w + x] ? (unsigned)(sum % P) : 0u;
}

__device__ unsigned around(const unsigned* tile, int pitch) {
    unsigned long long sum = 0;
    sum += tile[-2 * pitch + 1];
    sum += tile[-pitch + 2];
    sum += tile[pitch + 2];
    sum += tile[2 * pitch + 1];
    sum += tile[2 * pitch - 1];
    sum += tile[pitch - 2];
    sum += tile[-pitch - 2];
    sum += tile[-2 * pitch - 1];
    return (unsigned)(sum % P);
}

// Two moves in one launch: fields within 4 of the block's, then those within 2.
__global__ void hop_twice(const unsigned* __restrict__ from, const uint8_t* __restrict__ open,
                          unsigned* __restrict__ to, int h, int w) {
    __shared__ unsigned far[16 * 40];
    __shared__ unsigned near[12 * 36];
    int left = blockIdx.x * 32, top = blockIdx.y * 8;
    int t = threadIdx.y * 32 + threadIdx.x;
    for (int k = t; k < 16 * 40; k += 256) {
        int y = top - 4 + k / 40, x = left - 4 + k % 40;
        bool on = x >= 0 && x < w && y >= 0 && y < h;
        far[k] = on ? from[(size_t)y * w + x] : 0u;
    }
    __syncthreads();
    for (int k = t; k < 12 * 36; k += 256) {
        int y = top - 2 + k / 36, x = left - 2 + k % 36;
        bool on = x >= 0 && x < w && y >= 0 && y < h;
        near[k] = !on || open[(size_t)y * w + x] ? around(far + (k / 36 + 2) * 40 + k % 36 + 2, 40) : 0u;
    }
    __syncthreads();
    int x = left + threadIdx.x, y = top + threadIdx.y;
    if (x >= w || y >= h) return;
    to[(size_t)y * w + x] = open[(size_t)y * w + x]
        ? around(near + (threadIdx.y + 2) * 36 + threadIdx.x + 2, 36) : 0u;
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
    int launches = (steps + 1) / 2;
    for (int l = 0; l < launches; l++) {
        unsigned* to = (launches - 1 - l) % 2 ? other : counts;
        if (l == 0 && steps % 2)
            hop<<<grid, block>>>(from, open, to, h, w);
        else
            hop_twice<<<grid, block>>>(from, open, to, h, w);
        from = to;
    }
    cudaFreeAsync(other, 0);
}
