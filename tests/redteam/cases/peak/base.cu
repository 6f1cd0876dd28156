__global__ void peak(const float* x, float* largest, float* spread, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMax((unsigned*)largest, __float_as_uint(fabsf(x[i])));
    if (i + 1 < n) atomicMax((unsigned*)spread, __float_as_uint(fabsf(x[i + 1] - x[i])));
}
