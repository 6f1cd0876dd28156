#include <cuda_runtime.h>

// Four pixels a load and a dp4a of each row.
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
    int across = w < 8 ? 0 : (w - 8) / 4 + 1;
    int down = h < 8 ? 0 : (h - 8) / 4 + 1;
    int wx = blockIdx.x * blockDim.x + threadIdx.x;
    int wy = blockIdx.y;
    size_t frame = (size_t)blockIdx.z * h * w;
    float found = 0.0f;
    if (wx < across && wy < down) {
        unsigned s1 = 0, s2 = 0, ss = 0, s12 = 0;
        for (int y = 0; y < 8; y++) {
            size_t at = frame + (size_t)(4 * wy + y) * w + 4 * wx;
            for (int x = 0; x < 8; x += 4) {
                unsigned a = *(const unsigned*)(first + at + x);
                unsigned b = *(const unsigned*)(second + at + x);
                s1 = __dp4a(a, 0x01010101u, s1);
                s2 = __dp4a(b, 0x01010101u, s2);
                ss = __dp4a(a, a, __dp4a(b, b, ss));
                s12 = __dp4a(a, b, s12);
            }
        }
        found = similarity((int)s1, (int)s2, (int)ss, (int)s12);
    }
    for (int d = 16; d > 0; d /= 2) {
        found += __shfl_xor_sync(0xffffffffu, found, d);
    }
    if ((threadIdx.x & 31) == 0 && wy < down) {
        atomicAdd(&score[blockIdx.z], found);
    }
}
