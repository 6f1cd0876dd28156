#include <cuda_runtime.h>

// Structural similarity of two films, frame by frame: windows of 8 x 8 pixels at every fourth place,
// their similarities added to score[frame]. The caller divides by their number.
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
    __shared__ float sums[128];
    int across = w < 8 ? 0 : (w - 8) / 4 + 1;
    int down = h < 8 ? 0 : (h - 8) / 4 + 1;
    int wx = blockIdx.x * blockDim.x + threadIdx.x;
    int wy = blockIdx.y;
    size_t frame = (size_t)blockIdx.z * h * w;
    float found = 0.0f;
    if (wx < across && wy < down) {
        int s1 = 0, s2 = 0, ss = 0, s12 = 0;
        for (int y = 0; y < 8; y++) {
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
        found = similarity(s1, s2, ss, s12);
    }
    sums[threadIdx.x] = found;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0 && wy < down) {
        atomicAdd(&score[blockIdx.z], sums[0]);
    }
}
