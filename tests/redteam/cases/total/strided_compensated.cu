__global__ void total(const float* x, float* out, int n) {
    float s = 0.f, lost = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float term = __fsub_rn(x[i], lost), sum = __fadd_rn(s, term);
        lost = __fsub_rn(__fsub_rn(sum, s), term);
        s = sum;
    }
    for (int w = 16; w; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);
    if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
