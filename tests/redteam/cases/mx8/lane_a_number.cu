__device__ signed char coded(float v, float by) {
    return (signed char)(int)fminf(fmaxf(rintf(v * by), -127.f), 127.f);
}

__device__ unsigned exponent(float most) { return max(__float_as_uint(most) >> 23, 7u); }

// Bytes with a common power of two for each 32 numbers, as the microscaling formats have it: `scale` is the
// exponent of the largest one as it is stored in a float.
__global__ void mx8(const float* x, signed char* code, unsigned char* scale, int n) {
    // A lane a number. Floats without a sign are in the order of their bits; what is no number counts as zero.
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.f;
    unsigned bits = v == v ? __float_as_uint(fabsf(v)) : 0u;
    unsigned most = __reduce_max_sync(0xffffffffu, bits);
    unsigned e = exponent(__uint_as_float(most));
    float by = __uint_as_float((260u - e) << 23);
    if (i >= n) return;
    if (threadIdx.x % 32 == 0) scale[i / 32] = (unsigned char)e;
    code[i] = coded(v, by);
}
