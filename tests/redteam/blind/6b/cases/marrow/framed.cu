// Zhang and Suen's thinning: peels a drawing down to lines, two passes a round, until a round changes nothing.
#include <cuda_runtime.h>

__global__ void peel(const unsigned char* from, unsigned char* to, int* changed, int h, int w, int second)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const unsigned char* c = from + (size_t)y * w + x;   // zeros lie before the first and behind the last
    int p[8] = {c[-w], c[1 - w], c[1], c[1 + w], c[w], c[w - 1], c[-1], c[-w - 1]};              // clockwise from north
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
    unsigned char *room, *full, *half;
    int *changed, flag, n = 0;
    size_t rim = w + 1, framed = bytes + 2 * rim;
    cudaMallocAsync(&room, 2 * framed, 0);
    cudaMemsetAsync(room, 0, 2 * framed, 0);
    full = room + rim;
    half = full + framed;
    cudaMallocAsync(&changed, sizeof(int), 0);
    cudaMemcpyAsync(full, ink, bytes, cudaMemcpyDeviceToDevice, 0);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    for (;;) {
        cudaMemsetAsync(changed, 0, sizeof(int), 0);
        peel<<<grid, block>>>(full, half, changed, h, w, 0);
        peel<<<grid, block>>>(half, full, changed, h, w, 1);
        cudaMemcpy(&flag, changed, sizeof(int), cudaMemcpyDeviceToHost);
        if (!flag) break;
        n++;
    }
    cudaMemcpyAsync(bone, full, bytes, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpy(rounds, &n, sizeof(int), cudaMemcpyHostToDevice);
    cudaFreeAsync(room, 0);
    cudaFreeAsync(changed, 0);
}
