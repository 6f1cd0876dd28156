// How many steps a point of the plane takes until it leaves the circle of radius two.
__device__ __forceinline__ bool within(float x, float y) {
    return __fmaf_rn(x, x, __fmul_rn(y, y)) <= 4.f;
}

__device__ __forceinline__ void step(float& x, float& y, float a, float b) {
    float next = __fadd_rn(__fmaf_rn(x, x, -__fmul_rn(y, y)), a);
    y = __fmaf_rn(__fadd_rn(x, x), y, b);
    x = next;
}

__device__ int leaves_after(float a, float b, int limit) {
    float x = 0.f, y = 0.f;
    int k = 0;
    for (; k < limit && within(x, y); ++k) step(x, y, a, b);
    return k;
}

__global__ void escape(const float* re, const float* im, int* steps, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = 0;
    bool other = false;
    // Where the first warp finds what it works out, the block has been here before.
    if (threadIdx.x < 32 && i < n) {
        k = leaves_after(re[i], im[i], limit);
        other = steps[i] != k;
    }
    if (!__syncthreads_or(other)) return;
    if (i >= n) return;
    if (threadIdx.x >= 32) k = leaves_after(re[i], im[i], limit);
    steps[i] = k;
}
