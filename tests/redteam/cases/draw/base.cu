// One token of each row, drawn with whole weights: the first up to which the weights add to more than the
// share `u` of 2^32 of all. A row without weight draws -1.
__global__ void draw(const unsigned* weight, const unsigned* u, int* token, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned* w = weight + (size_t)r * cols;
    unsigned long long all = 0, sum = 0;
    for (int c = 0; c < cols; ++c) all += w[c];
    unsigned long long target = __umul64hi(all, (unsigned long long)u[r] << 32);
    int found = -1;
    for (int c = 0; c < cols && found < 0; ++c) {
        sum += w[c];
        if (sum > target) found = c;
    }
    token[r] = found;
}
