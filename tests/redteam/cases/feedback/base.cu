// Gradients go to the other workers in eight bits, a row with a scale of its own; what rounding leaves over is kept and added to
// the next gradient (error feedback).

__device__ __forceinline__ float coded(float v, float unit)
{
    return unit > 0.0f ? fminf(fmaxf(rintf(__fdiv_rn(v, unit)), -127.0f), 127.0f) : 0.0f;
}

extern "C" __global__ void feedback(const float* gradient, float* residual, signed char* code, float* scale, int rows,
                                    int cols)
{
    __shared__ float most[256];
    const size_t row = (size_t)blockIdx.x * cols;
    float top = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 256) {
        top = fmaxf(top, fabsf(gradient[row + c] + residual[row + c]));
    }
    most[threadIdx.x] = top;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + s]);
        }
        __syncthreads();
    }
    const float unit = __fdiv_rn(most[0], 127.0f);
    for (int c = threadIdx.x; c < cols; c += 256) {
        const float v = gradient[row + c] + residual[row + c];
        const float q = coded(v, unit);
        code[row + c] = (signed char)(int)q;
        residual[row + c] = fmaf(-q, unit, v);
    }
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = unit;
    }
}
