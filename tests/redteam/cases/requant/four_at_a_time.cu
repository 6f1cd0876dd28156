#include <cstdint>

__device__ __forceinline__ int dot(const int8_t* a, const int8_t* b, int k) {
    int sum = 0;
    if (k % 4 == 0) {
        const int* x = reinterpret_cast<const int*>(a);
        const int* y = reinterpret_cast<const int*>(b);
        for (int t = 0; t < k / 4; ++t) sum = __dp4a(x[t], y[t], sum);
        return sum;
    }
    for (int t = 0; t < k; ++t) sum += a[t] * b[t];
    return sum;
}

__global__ void requant(const int8_t* __restrict__ a, const int8_t* __restrict__ b, int8_t* c, int m,
                        int n, int k, float scale) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    const int sum = dot(a + (size_t)(i / n) * k, b + (size_t)(i % n) * k, k);
    c[i] = (int8_t)max(-128, min(127, __float2int_rn((float)sum * scale)));
}
