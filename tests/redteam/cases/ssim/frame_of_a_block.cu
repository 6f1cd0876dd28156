#include <cuda_runtime.h>

// One block a frame, which needs no atomics: its threads go from window to window.
__device__ float similarity(int s1, int s2, int ss, int s12) {
    const float c1 = 0.01f * 0.01f * 255.0f * 255.0f * 64.0f * 64.0f;
    const float c2 = 0.03f * 0.03f * 255.0f * 255.0f * 64.0f * 64.0f;
    float product = (float)(s1 * s2);
    float squares = (float)(s1 * s1 + s2 * s2);
    float spread = (float)(ss * 64 - s1 * s1 - s2 * s2);
    float common = (float)(s12 * 64 - s1 * s2);
    return (2.0f * product + c1) * (2.0f * common + c2) / ((squares + c1) * (spread + c2));
}

extern "C" __global__ void ssim(const unsigned char* first, const unsigned char* second,
                                float* score, int h, int w) {
    __shared__ double warps[32];
    int across = w < 8 ? 0 : (w - 8) / 4 + 1;
    int down = h < 8 ? 0 : (h - 8) / 4 + 1;
    size_t frame = (size_t)blockIdx.x * h * w;
    double found = 0.0;
    for (int wy = threadIdx.x >> 5; wy < down; wy += blockDim.x >> 5) {
        for (int wx = threadIdx.x & 31; wx < across; wx += 32) {
            int s1 = 0, s2 = 0, ss = 0, s12 = 0;
            for (int y = 0; y < 8; y++) {
#pragma unroll
                for (int x = 0; x < 8; x++) {
                    size_t at = frame + (size_t)(4 * wy + y) * w + 4 * wx + x;
                    int a = first[at];
                    int b = second[at];
                    s1 += a;
                    s2 += b;
                    ss += a * a + b * b;
                    s12 += a * b;
                }
            }
            found += similarity(s1, s2, ss, s12);
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        found += __shfl_xor_sync(0xffffffffu, found, d);
    }
    if ((threadIdx.x & 31) == 0) {
        warps[threadIdx.x >> 5] = found;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        double total = 0.0;
        for (int i = 0; i < (int)blockDim.x / 32; i++) {
            total += warps[i];
        }
        score[blockIdx.x] += (float)total;
    }
}
