__device__ signed char coded(float v, float by) {
    return (signed char)(int)fminf(fmaxf(rintf(v * by), -127.f), 127.f);
}

__device__ unsigned exponent(float most) { return max(__float_as_uint(most) >> 23, 7u); }

// Bytes with a common power of two for each 32 numbers, as the microscaling formats have it: `scale` is the
// exponent of the largest one as it is stored in a float.
__global__ void mx8(const float* x, signed char* code, unsigned char* scale, int n) {
    size_t b = blockIdx.x * (size_t)blockDim.x + threadIdx.x, begin = b * 32;
    if (begin >= n) return;
    size_t end = min(begin + 32, (size_t)n);
    float most = 0.f;
    for (size_t i = begin; i < end; ++i) most = fmaxf(most, fabsf(x[i]));
    unsigned e = exponent(most);
    float by = __uint_as_float((260u - e) << 23);
    scale[b] = (unsigned char)e;
    for (size_t i = begin; i < end; ++i) code[i] = coded(x[i], by);
}
