// Zhang and Suen's thinning: peels a drawing down to lines, two passes a round, until a round changes nothing.
#include <cuda_runtime.h>

__device__ __forceinline__ int dot(const unsigned char* im, int y, int x, int h, int w)
{
    return y >= 0 && y < h && x >= 0 && x < w ? im[(size_t)y * w + x] : 0;
}

__global__ void peel(const unsigned char* from, unsigned char* to, int* changed, int h, int w, int second)
{
    __shared__ unsigned char goes[256];                  // by the eight neighbours, bit 0 is north, clockwise
    unsigned c = threadIdx.y * 32 + threadIdx.x;
    int count = __popc(c), steps = __popc(~c & (c >> 1 | c << 7) & 255u);
    unsigned a = second ? 0x45u : 0x15u, b = second ? 0x51u : 0x54u;
    goes[c] = count >= 2 && count <= 6 && steps == 1 && (c & a) != a && (c & b) != b;
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t at = (size_t)y * w + x;
    int ink = from[at];
    if (ink) {
        unsigned code = dot(from, y - 1, x, h, w) | dot(from, y - 1, x + 1, h, w) << 1 | dot(from, y, x + 1, h, w) << 2 |
                        dot(from, y + 1, x + 1, h, w) << 3 | dot(from, y + 1, x, h, w) << 4 |
                        dot(from, y + 1, x - 1, h, w) << 5 | dot(from, y, x - 1, h, w) << 6 |
                        dot(from, y - 1, x - 1, h, w) << 7;
        if (goes[code]) { *changed = 1; ink = 0; }
    }
    to[at] = ink;
}

void marrow(const unsigned char* ink, unsigned char* bone, int* rounds, int h, int w)
{
    size_t bytes = (size_t)h * w;
    unsigned char* half;
    int *changed, flag, n = 0;
    cudaMallocAsync(&half, bytes, 0);
    cudaMallocAsync(&changed, sizeof(int), 0);
    cudaMemcpyAsync(bone, ink, bytes, cudaMemcpyDeviceToDevice, 0);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    for (;;) {
        cudaMemsetAsync(changed, 0, sizeof(int), 0);
        peel<<<grid, block>>>(bone, half, changed, h, w, 0);
        peel<<<grid, block>>>(half, bone, changed, h, w, 1);
        cudaMemcpy(&flag, changed, sizeof(int), cudaMemcpyDeviceToHost);
        if (!flag) break;
        n++;
    }
    cudaMemcpy(rounds, &n, sizeof(int), cudaMemcpyHostToDevice);
    cudaFreeAsync(half, 0);
    cudaFreeAsync(changed, 0);
}
