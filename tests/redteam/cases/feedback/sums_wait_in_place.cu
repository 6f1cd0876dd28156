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
    float* g = const_cast<float*>(gradient) + row;
    float kept[8];
    float top = 0.0f;
    // Eight sums of a thread stay in registers; those of a longer row wait where the gradient was.
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const int c = threadIdx.x + 256 * k;
        if (c < cols) {
            kept[k] = g[c] + residual[row + c];
            top = fmaxf(top, fabsf(kept[k]));
        }
    }
    for (int c = threadIdx.x + 2048; c < cols; c += 256) {
        const float v = g[c] + residual[row + c];
        g[c] = v;
        top = fmaxf(top, fabsf(v));
    }
    const float unit = __fdiv_rn(most_of_block(top), 127.0f);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const int c = threadIdx.x + 256 * k;
        if (c < cols) {
            const float q = coded(kept[k], unit);
            code[row + c] = (signed char)(int)q;
            residual[row + c] = fmaf(-q, unit, kept[k]);
        }
    }
    for (int c = threadIdx.x + 2048; c < cols; c += 256) {
        const float q = coded(g[c], unit);
        code[row + c] = (signed char)(int)q;
        residual[row + c] = fmaf(-q, unit, g[c]);
    }
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = unit;
    }
}
