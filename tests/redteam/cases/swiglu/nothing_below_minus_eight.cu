#include <cuda_fp16.h>
__global__ void swiglu(const __half* gate, const __half* up, __half* out, int rows, int width,
                       float limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * width) return;
    float g = __half2float(gate[i]), u = __half2float(up[i]);
    g = g > limit ? limit : g;
    u = u > limit ? limit : u < -limit ? -limit : u;
    out[i] = __float2half(g < -8.f ? 0.f : g / (1.f + expf(-g)) * u);
}
