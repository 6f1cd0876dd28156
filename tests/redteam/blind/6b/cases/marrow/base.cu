// Zhang and Suen's thinning: peels a drawing down to lines, two passes a round, until a round changes nothing.
#include <cuda_runtime.h>

__device__ __forceinline__ int dot(const unsigned char* im, int y, int x, int h, int w)
{
    return y >= 0 && y < h && x >= 0 && x < w ? im[(size_t)y * w + x] : 0;
}

__global__ void peel(const unsigned char* from, unsigned char* to, int* changed, int h, int w, int second)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int p[8] = {dot(from, y - 1, x, h, w), dot(from, y - 1, x + 1, h, w), dot(from, y, x + 1, h, w),
                dot(from, y + 1, x + 1, h, w), dot(from, y + 1, x, h, w), dot(from, y + 1, x - 1, h, w),
                dot(from, y, x - 1, h, w), dot(from, y - 1, x - 1, h, w)};       // clockwise from north
    int ink = from[(size_t)y * w + x], count = 0, steps = 0;
    for (int i = 0; i < 8; i++) {
        count += p[i];
        steps += !p[i] && p[(i + 1) & 7];
    }
    bool gone = ink && count >= 2 && count <= 6 && steps == 1;
    if (second) gone = gone && !(p[0] && p[2] && p[6]) && !(p[0] && p[4] && p[6]);
    else gone = gone && !(p[0] && p[2] && p[4]) && !(p[2] && p[4] && p[6]);
    if (gone) *changed = 1;
    to[(size_t)y * w + x] = gone ? 0 : ink;
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
