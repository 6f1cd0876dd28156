__global__ void topk(const float* x, float* value, int* index, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float best[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    int found[4] = {-1, -1, -1, -1};
    for (int c = 0; c < cols; ++c) {
        float v = x[(size_t)r * cols + c];
        int i = c;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (v > best[k] || (v == best[k] && i < found[k])) {
                float b = best[k];
                int f = found[k];
                best[k] = v;
                found[k] = i;
                v = b;
                i = f;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        value[r * 4 + k] = best[k];
        index[r * 4 + k] = found[k];
    }
}
