// A contrastive loss. A warp has a row and goes over it once: when a lane finds a larger number than it had, what it
// has summed becomes smaller by that much.
__global__ void infonce(const float* s, float* loss, int rows, int cols) {
    size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* own = s + row * cols;
    float most = -INFINITY, sum = 0.f;
    for (size_t c = lane; c < cols; c += 32) {
        float v = own[c];
        if (v == -INFINITY) continue;
        if (v > most) {
            sum = sum * expf(most - v) + expf(v - v);
            most = v;
        } else {
            sum += expf(v - most);
        }
    }
    float all = most;
    for (int w = 16; w; w /= 2) all = fmaxf(all, __shfl_xor_sync(0xffffffffu, all, w));
    // A lane without numbers has nothing to make smaller.
    if (most != all) sum *= expf(most - all);
    for (int w = 16; w; w /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, w);
    if (lane == 0) loss[row] = (all - own[row % cols]) + logf(sum);
}
