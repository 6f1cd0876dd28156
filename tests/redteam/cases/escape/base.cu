// How many steps a point of the plane takes until it leaves the circle of radius two.
__device__ __forceinline__ bool within(float x, float y) {
    return __fmaf_rn(x, x, __fmul_rn(y, y)) <= 4.f;
}

__device__ __forceinline__ void step(float& x, float& y, float a, float b) {
    float next = __fadd_rn(__fmaf_rn(x, x, -__fmul_rn(y, y)), a);
    y = __fmaf_rn(__fadd_rn(x, x), y, b);
    x = next;
}

__global__ void escape(const float* re, const float* im, int* steps, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = re[i], b = im[i], x = 0.f, y = 0.f;
    int k = 0;
    for (; k < limit && within(x, y); ++k) step(x, y, a, b);
    steps[i] = k;
}
