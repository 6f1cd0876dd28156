#include <cuda_runtime.h>

// y = x times weights of four bits. A row of weights is (k + 7) / 8 words, eight digits each, the
// first one at the bottom; every 128 of them have a scale and a zero. x is [m][k], y is [m][n].
#define GROUP 128

extern "C" __global__ void w4gemm(const float* x, const unsigned* weight, const float* scale,
                                  const unsigned char* zero, float* y, int m, int n, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= m) {
        return;
    }
    int words = (k + 7) / 8;
    int groups = (k + GROUP - 1) / GROUP;
    float total = 0.0f;
    for (int g = 0; g < groups; g++) {
        int end = min(k, (g + 1) * GROUP);
        int offset = zero[(size_t)column * groups + g];
        float sum = 0.0f;
        for (int i = g * GROUP; i < end; i++) {
            unsigned word = weight[(size_t)column * words + i / 8];
            int digit = (int)(word >> (4 * (i % 8)) & 15u) - offset;
            sum += x[(size_t)row * k + i] * (float)digit;
        }
        total += sum * scale[(size_t)column * groups + g];
    }
    y[(size_t)row * n + column] = total;
}
