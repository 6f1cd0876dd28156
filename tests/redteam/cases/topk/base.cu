__global__ void topk(const float* x, float* value, int* index, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float last = INFINITY;
    int at = -1;
    for (int k = 0; k < 4; ++k) {
        float best = -INFINITY;
        int found = -1;
        for (int c = 0; c < cols; ++c) {
            bool later = row[c] < last || (row[c] == last && c > at);
            if (later && row[c] > best) {
                best = row[c];
                found = c;
            }
        }
        value[r * 4 + k] = last = best;
        index[r * 4 + k] = at = found;
    }
}
