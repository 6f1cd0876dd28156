// What a customer of each place spends: by how much shops draw him (a softmax), and what is spent in each.
__global__ void huff(const float* draw, const float* spent, float* out, int rows, int cols) {
    size_t r = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* u = draw + r * cols;
    float most = -INFINITY, sum = 0.f, all = 0.f;
    for (int c = 0; c < cols; ++c) most = fmaxf(most, u[c]);
    for (int c = 0; c < cols; ++c) {
        float e = expf(u[c] - most);
        sum += e;
        all += e * spent[c];
    }
    out[r] = all / sum;
}
