#include <cuda_runtime.h>

// Every column of a picture of 16 bits smoothed, in place: a quarter, a half, a quarter.
__global__ void smooth(const unsigned short* from, unsigned short* to, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned above = from[(size_t)max(y - 1, 0) * w + x], here = from[(size_t)y * w + x],
             below = from[(size_t)min(y + 1, h - 1) * w + x];
    to[(size_t)y * w + x] = (above + 2 * here + below + 2) / 4;
}

extern "C" void comb(unsigned short* image, int w, int h) {
    unsigned short* copy;
    size_t bytes = (size_t)w * h * sizeof(unsigned short);
    cudaMalloc(&copy, bytes);
    cudaMemcpyAsync(copy, image, bytes, cudaMemcpyDeviceToDevice, 0);
    smooth<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(copy, image, w, h);
    cudaFree(copy);
}
