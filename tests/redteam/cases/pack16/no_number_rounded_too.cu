// A carry does the rounding: 0x7fff and the lowest bit that stays are added.
__device__ __forceinline__ unsigned upper(float v) {
    unsigned u = __float_as_uint(v);
    unsigned r = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    return r;
}

__global__ void pack16(const float* __restrict__ x, unsigned short* __restrict__ y, int n) {
    size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (i >= n) return;
    if (i + 1 < n && ((size_t)y & 3) == 0) {
        *(unsigned*)(y + i) = upper(x[i]) | upper(x[i + 1]) << 16;
        return;
    }
    y[i] = (unsigned short)upper(x[i]);
    if (i + 1 < n) y[i + 1] = (unsigned short)upper(x[i + 1]);
}
