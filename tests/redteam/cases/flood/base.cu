#include <cuda_runtime.h>

// Where water gets from the top row: to each open place that touches a wet one, until nothing changes.
__global__ void begin(const unsigned char* open, unsigned char* wet, int h, int w) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < (size_t)h * w) wet[i] = i < w && open[i] != 0;
}

__global__ void flow(const unsigned char* open, unsigned char* wet, int* more, int h, int w) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= w || r >= h) return;
    size_t at = (size_t)r * w + c;
    if (open[at] == 0 || wet[at]) return;
    if ((r > 0 && wet[at - w]) || (r + 1 < h && wet[at + w]) || (c > 0 && wet[at - 1]) ||
        (c + 1 < w && wet[at + 1])) {
        wet[at] = 1;
        *more = 1;
    }
}

extern "C" void flood(const unsigned char* open, unsigned char* wet, int h, int w) {
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    int *more, again = 1;
    cudaMalloc(&more, sizeof(int));
    begin<<<((size_t)h * w + 255) / 256, 256>>>(open, wet, h, w);
    while (again) {
        cudaMemsetAsync(more, 0, sizeof(int), 0);
        for (int k = 0; k < 8; ++k) flow<<<grid, block>>>(open, wet, more, h, w);
        cudaMemcpy(&again, more, sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaFree(more);
}
