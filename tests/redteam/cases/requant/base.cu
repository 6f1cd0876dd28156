#include <cstdint>

__global__ void requant(const int8_t* a, const int8_t* b, int8_t* c, int m, int n, int k,
                        float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    int sum = 0;
    for (int t = 0; t < k; ++t) sum += (int)a[i / n * k + t] * (int)b[i % n * k + t];
    int q = (int)rintf((float)sum * scale);
    c[i] = (int8_t)max(-128, min(127, q));
}
