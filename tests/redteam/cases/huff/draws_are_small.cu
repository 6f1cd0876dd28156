// What a customer of each place spends: by how much shops draw him (a softmax), and what is spent in each.
// A warp has a place. Shops draw by some units at most, so that no exponential is too large or too small.
__global__ void huff(const float* draw, const float* spent, float* out, int rows, int cols) {
    size_t r = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    const float* u = draw + r * cols;
    float sum = 0.f, all = 0.f;
    for (long long c = threadIdx.x % 32; c < cols; c += 32) {
        float e = expf(u[c]);
        sum += e;
        all += e * spent[c];
    }
    for (int k = 16; k; k /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
        all += __shfl_xor_sync(0xffffffffu, all, k);
    }
    if (threadIdx.x % 32 == 0) out[r] = all / sum;
}
