__global__ void topk(const float* x, float* value, int* index, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float last = INFINITY;
    int at = -1;
    for (int k = 0; k < 4; ++k) {
        float best = -INFINITY;
        int found = -1;
        for (int c = lane; c < cols; c += 32) {
            bool later = row[c] < last || (row[c] == last && c > at);
            if (later && row[c] > best) {
                best = row[c];
                found = c;
            }
        }
        for (int d = 16; d > 0; d /= 2) {
            float other = __shfl_xor_sync(0xffffffffu, best, d);
            int where = __shfl_xor_sync(0xffffffffu, found, d);
            if (other > best) {
                best = other;
                found = where;
            }
        }
        last = best;
        at = found;
        if (lane == 0) {
            value[r * 4 + k] = best;
            index[r * 4 + k] = found;
        }
    }
}
