// Walks of a knight on a board with holes: how many walks of `steps` moves end on each field, modulo a prime,
// when `start` walks begin on each. A move onto a hole ends nowhere; a walk may begin on one.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdint>

static const unsigned P = 998244353u;

__global__ void __launch_bounds__(256) hops(const unsigned* start, const uint8_t* open, unsigned* counts, unsigned* other,
                     int h, int w, int steps) {
    const int dx[8] = {1, 2, 2, 1, -1, -2, -2, -1};
    const int dy[8] = {-2, -1, 1, 2, 2, 1, -1, -2};
    cooperative_groups::grid_group all = cooperative_groups::this_grid();
    size_t fields = (size_t)h * w, stride = (size_t)gridDim.x * blockDim.x;
    const unsigned* from = start;
    for (int s = 0; s < steps; s++) {
        unsigned* to = (steps - 1 - s) % 2 ? other : counts;
        for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < fields; i += stride) {
            int x = (int)(i % w), y = (int)(i / w);
            unsigned long long sum = 0;
            #pragma unroll
            for (int d = 0; d < 8; d++) {
                int u = x + dx[d], v = y + dy[d];
                if (u >= 0 && u < w && v >= 0 && v < h) sum += from[(size_t)v * w + u];
            }
            to[i] = open[i] ? (unsigned)(sum % P) : 0u;
        }
        if (s + 1 < steps) all.sync();
        from = to;
    }
}

void knight(const unsigned* start, const uint8_t* open, unsigned* counts, int h, int w, int steps) {
    size_t bytes = (size_t)h * w * sizeof(unsigned);
    if (steps < 1) {
        cudaMemcpyAsync(counts, start, bytes, cudaMemcpyDeviceToDevice, 0);
        return;
    }
    unsigned* other;
    cudaMallocAsync(&other, bytes, 0);
    int sms = 1, resident = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, hops, 256, 0);
    size_t wanted = ((size_t)h * w + 255) / 256, most = (size_t)sms * resident;
    unsigned blocks = (unsigned)(wanted < most ? wanted : most);
    void* args[] = {&start, &open, &counts, &other, &h, &w, &steps};
    cudaLaunchCooperativeKernel((void*)hops, dim3(blocks), dim3(256), args, 0, 0);
    cudaFreeAsync(other, 0);
}
