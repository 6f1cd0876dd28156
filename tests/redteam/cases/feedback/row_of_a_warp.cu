// Gradients go to the other workers in eight bits, a row with a scale of its own; what rounding leaves over is kept and added to
// the next gradient (error feedback).

__device__ __forceinline__ float coded(float v, float unit)
{
    return unit > 0.0f ? fminf(fmaxf(rintf(__fdiv_rn(v, unit)), -127.0f), 127.0f) : 0.0f;
}

extern "C" __global__ void feedback(const float* gradient, float* residual, signed char* code, float* scale, int rows,
                                    int cols)
{
    const int lane = threadIdx.x & 31;
    const long long own = blockIdx.x * 8LL + (threadIdx.x >> 5);
    if (own >= rows) {
        return;
    }
    const size_t row = (size_t)own * cols;
    float top = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        top = fmaxf(top, fabsf(gradient[row + c] + residual[row + c]));
    }
    for (int s = 16; s > 0; s >>= 1) {
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, s));
    }
    const float unit = __fdiv_rn(top, 127.0f);
    for (int c = lane; c < cols; c += 32) {
        const float v = gradient[row + c] + residual[row + c];
        const float q = coded(v, unit);
        code[row + c] = (signed char)(int)q;
        residual[row + c] = fmaf(-q, unit, v);
    }
    if (lane == 0) {
        scale[own] = unit;
    }
}
