#include <cuda_runtime.h>

// A window is four cells of 4 x 4 pixels. A block sums two rows of cells, then puts them together.
__device__ float similarity(int s1, int s2, int ss, int s12) {
    const float c1 = 0.01f * 0.01f * 255.0f * 255.0f * 64.0f * 64.0f;
    const float c2 = 0.03f * 0.03f * 255.0f * 255.0f * 64.0f * 64.0f;
    float product = (float)(s1 * s2);
    float squares = (float)(s1 * s1 + s2 * s2);
    float spread = (float)(ss * 64 - s1 * s1 - s2 * s2);
    float common = (float)(s12 * 64 - s1 * s2);
    return (2.0f * product + c1) * (2.0f * common + c2) / ((squares + c1) * (spread + c2));
}

__device__ int4 cell(const unsigned char* first, const unsigned char* second, int w) {
    int4 c = make_int4(0, 0, 0, 0);
    for (int y = 0; y < 4; y++) {
        for (int x = 0; x < 4; x++) {
            int a = first[(size_t)y * w + x];
            int b = second[(size_t)y * w + x];
            c.x += a;
            c.y += b;
            c.z += a * a + b * b;
            c.w += a * b;
        }
    }
    return c;
}

extern "C" __global__ void ssim(const unsigned char* first, const unsigned char* second,
                                float* score, int h, int w) {
    __shared__ int4 cells[129];
    __shared__ float warps[4];
    int across = w < 8 ? 0 : (w - 8) / 4 + 1;
    int down = h < 8 ? 0 : (h - 8) / 4 + 1;
    int left = blockIdx.x * 128;
    int wy = blockIdx.y;
    if (wy >= down || left >= across) {
        return;
    }
    size_t corner = (size_t)blockIdx.z * h * w + (size_t)(4 * wy) * w;
    // Two cells, one above the other, of each column; the windows of the block need one column more.
    int columns = min(129, across + 1 - left);
    int c = threadIdx.x;
    if (c < columns) {
        size_t at = corner + 4 * (size_t)(left + c);
        int4 upper = cell(first + at, second + at, w);
        int4 lower = cell(first + at + 4 * (size_t)w, second + at + 4 * (size_t)w, w);
        cells[c] = make_int4(upper.x + lower.x, upper.y + lower.y, upper.z + lower.z,
                             upper.w + lower.w);
    }
    __syncthreads();
    float found = 0.0f;
    if (left + (int)threadIdx.x < across) {
        int4 a = cells[threadIdx.x];
        int4 b = cells[threadIdx.x + 1];
        found = similarity(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    for (int d = 16; d > 0; d /= 2) {
        found += __shfl_down_sync(0xffffffffu, found, d);
    }
    if ((threadIdx.x & 31) == 0) {
        warps[threadIdx.x >> 5] = found;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&score[blockIdx.z], warps[0] + warps[1] + warps[2] + warps[3]);
    }
}
