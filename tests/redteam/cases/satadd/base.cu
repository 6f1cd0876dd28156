#include <cstdint>

// Bytes added; what does not fit stays at the end of the range.
__global__ void satadd(const int8_t* a, const int8_t* b, int8_t* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = a[i] + b[i];
    y[i] = (int8_t)(s > 127 ? 127 : s < -128 ? -128 : s);
}
