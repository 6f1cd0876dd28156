__device__ signed char coded(float v, float by) {
    return (signed char)(int)fminf(fmaxf(rintf(v * by), -127.f), 127.f);
}

__device__ unsigned exponent(float most) { return max(__float_as_uint(most) >> 23, 7u); }

// Bytes with a common power of two for each 32 numbers, as the microscaling formats have it: `scale` is the
// exponent of the largest one as it is stored in a float.
__global__ void mx8(const float* x, signed char* code, unsigned char* scale, int n) {
    // Eight lanes to each 32 numbers, four numbers a lane.
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 4;
    float v[4];
    bool whole = i + 4 <= n;
    if (whole && ((size_t)x & 15) == 0) {
        float4 q = *(const float4*)(x + i);
        v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
    } else {
        for (int k = 0; k < 4; ++k) v[k] = i + k < n ? x[i + k] : 0.f;
    }
    float most = fmaxf(fmaxf(fabsf(v[0]), fabsf(v[1])), fmaxf(fabsf(v[2]), fabsf(v[3])));
    most = fmaxf(most, 0.f);
    for (int d = 4; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    unsigned e = exponent(most);
    float by = __uint_as_float((260u - e) << 23);
    if (i < n && threadIdx.x % 8 == 0) scale[i / 32] = (unsigned char)e;
    if (whole && ((size_t)code & 3) == 0) {
        *(char4*)(code + i) = make_char4(coded(v[0], by), coded(v[1], by), coded(v[2], by), coded(v[3], by));
    } else {
        for (int k = 0; k < 4; ++k)
            if (i + k < n) code[i + k] = coded(v[k], by);
    }
}
