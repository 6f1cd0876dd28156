// A rough reciprocal and two steps that mend it.
__device__ __forceinline__ float quotient(float a, float b) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
    r = fmaf(fmaf(-b, r, 1.f), r, r);
    float q = a * r;
    return fmaf(fmaf(-b, q, a), r, q);
}

__global__ void ratio(const float* __restrict__ a, const float* __restrict__ b,
                      float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = quotient(a[i], b[i]);
}
