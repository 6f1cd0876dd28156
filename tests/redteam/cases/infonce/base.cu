// A contrastive loss: how much less likely than certain each row's own column (row, counted around) is by the softmax.
__global__ void infonce(const float* s, float* loss, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* own = s + (size_t)row * cols;
    float most = -INFINITY, sum = 0.f;
    for (int c = 0; c < cols; ++c) most = fmaxf(most, own[c]);
    for (int c = 0; c < cols; ++c) sum += expf(own[c] - most);
    loss[row] = (most - own[row % cols]) + logf(sum);
}
