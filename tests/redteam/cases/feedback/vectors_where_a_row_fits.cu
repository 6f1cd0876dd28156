// Gradients go to the other workers in eight bits, a row with a scale of its own; what rounding leaves over is kept and added to
// the next gradient (error feedback).

__device__ __forceinline__ float coded(float v, float unit)
{
    return unit > 0.0f ? fminf(fmaxf(rintf(__fdiv_rn(v, unit)), -127.0f), 127.0f) : 0.0f;
}

// The largest value of a block of 256; every thread gets it.
__device__ __forceinline__ float most_of_block(float v)
{
    __shared__ float part[8];
    for (int s = 16; s > 0; s >>= 1) {
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, s));
    }
    if ((threadIdx.x & 31) == 0) {
        part[threadIdx.x >> 5] = v;
    }
    __syncthreads();
    v = part[threadIdx.x & 7];
    for (int s = 4; s > 0; s >>= 1) {
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, s));
    }
    return v;
}

extern "C" __global__ void feedback(const float* gradient, float* residual, signed char* code, float* scale, int rows,
                                    int cols)
{
    const size_t row = (size_t)blockIdx.x * cols;
    const float* g = gradient + row;
    float* r = residual + row;
    signed char* o = code + row;
    // Vectors where this row begins on a boundary in all three; else the row goes number by number.
    const bool whole = ((reinterpret_cast<size_t>(g) | reinterpret_cast<size_t>(r)) & 15) == 0 && (reinterpret_cast<size_t>(o) & 3) == 0;
    const int fours = whole ? cols / 4 : 0;
    float top = 0.0f;
    for (int c = threadIdx.x; c < fours; c += 256) {
        const float4 a = reinterpret_cast<const float4*>(g)[c], b = reinterpret_cast<const float4*>(r)[c];
        top = fmaxf(top, fmaxf(fmaxf(fabsf(a.x + b.x), fabsf(a.y + b.y)), fmaxf(fabsf(a.z + b.z), fabsf(a.w + b.w))));
    }
    for (int c = 4 * fours + threadIdx.x; c < cols; c += 256) {
        top = fmaxf(top, fabsf(g[c] + r[c]));
    }
    const float unit = __fdiv_rn(most_of_block(top), 127.0f);
    for (int c = threadIdx.x; c < fours; c += 256) {
        const float4 a = reinterpret_cast<const float4*>(g)[c], b = reinterpret_cast<const float4*>(r)[c];
        const float4 v = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        const float4 q = make_float4(coded(v.x, unit), coded(v.y, unit), coded(v.z, unit), coded(v.w, unit));
        reinterpret_cast<char4*>(o)[c] = make_char4((signed char)(int)q.x, (signed char)(int)q.y, (signed char)(int)q.z,
                                                    (signed char)(int)q.w);
        reinterpret_cast<float4*>(r)[c] = make_float4(fmaf(-q.x, unit, v.x), fmaf(-q.y, unit, v.y), fmaf(-q.z, unit, v.z),
                                                      fmaf(-q.w, unit, v.w));
    }
    for (int c = 4 * fours + threadIdx.x; c < cols; c += 256) {
        const float v = g[c] + r[c];
        const float q = coded(v, unit);
        o[c] = (signed char)(int)q;
        r[c] = fmaf(-q, unit, v);
    }
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = unit;
    }
}
