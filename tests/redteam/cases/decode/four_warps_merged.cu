struct State {
    float top, sum, acc;
};

__device__ __forceinline__ State merge(State a, State b) {
    const float top = fmaxf(a.top, b.top);
    if (top == -INFINITY) return a;
    const float x = expf(a.top - top), y = expf(b.top - top);
    return {top, a.sum * x + b.sum * y, a.acc * x + b.acc * y};
}

__global__ void decode(const float* __restrict__ q, const float* __restrict__ key,
                       const float* __restrict__ value, float* out, int heads, int length,
                       float scale) {
    __shared__ State held[4][32];
    const int h = blockIdx.x, d = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float mine = q[h * 32 + d];
    State s = {-INFINITY, 0.0f, 0.0f};
    for (int t = warp; t < length; t += 4) {
        const size_t at = ((size_t)h * length + t) * 32 + d;
        float dot = mine * key[at];
        for (int o = 16; o; o >>= 1) dot += __shfl_xor_sync(0xffffffffu, dot, o);
        s = merge(s, {dot * scale, 1.0f, value[at]});
    }
    held[warp][d] = s;
    __syncthreads();
    if (warp) return;
    for (int k = 1; k < 4; ++k) s = merge(s, held[k][d]);
    out[h * 32 + d] = s.acc / s.sum;
}
