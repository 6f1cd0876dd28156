// Zhang and Suen's thinning: peels a drawing down to lines, two passes a round, until a round changes nothing.
#include <cuda_runtime.h>

__device__ __forceinline__ bool gone(const unsigned char* c, int pitch, bool second)
{
    int p[8] = {c[-pitch], c[1 - pitch], c[1], c[1 + pitch], c[pitch], c[pitch - 1], c[-1], c[-pitch - 1]};
    int count = 0, steps = 0;
    for (int i = 0; i < 8; i++) {
        count += p[i];
        steps += !p[i] && p[(i + 1) & 7];
    }
    if (!*c || count < 2 || count > 6 || steps != 1) return false;
    if (second) return !(p[0] && p[2] && p[6]) && !(p[0] && p[4] && p[6]);
    return !(p[0] && p[2] && p[4]) && !(p[2] && p[4] && p[6]);
}

// Both passes of a round: the first is done again for a rim of one around the block.
__global__ void peel(const unsigned char* from, unsigned char* to, int* changed, int h, int w)
{
    __shared__ unsigned char a[12][36], b[10][34];
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, t = threadIdx.y * 32 + threadIdx.x;
    for (int i = t; i < 12 * 36; i += 256) {
        int y = y0 + i / 36 - 2, x = x0 + i % 36 - 2;
        a[i / 36][i % 36] = y >= 0 && y < h && x >= 0 && x < w ? from[(size_t)y * w + x] : 0;
    }
    __syncthreads();
    for (int i = t; i < 10 * 34; i += 256) {
        const unsigned char* c = &a[i / 34 + 1][i % 34 + 1];
        b[i / 34][i % 34] = gone(c, 36, false) ? 0 : *c;
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= w || y >= h) return;
    const unsigned char* c = &b[threadIdx.y + 1][threadIdx.x + 1];
    int left = gone(c, 34, true) ? 0 : *c;
    if (left != a[threadIdx.y + 2][threadIdx.x + 2]) *changed = 1;
    to[(size_t)y * w + x] = left;
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
        if (n % 2 == 0) peel<<<grid, block>>>(bone, half, changed, h, w);
        else peel<<<grid, block>>>(half, bone, changed, h, w);
        cudaMemcpy(&flag, changed, sizeof(int), cudaMemcpyDeviceToHost);
        if (!flag) break;                                // then both hold the same
        n++;
    }
    cudaMemcpy(rounds, &n, sizeof(int), cudaMemcpyHostToDevice);
    cudaFreeAsync(half, 0);
    cudaFreeAsync(changed, 0);
}
