// A contrastive loss. A warp has a row and reads it once: its numbers stay in registers, 16 in a lane.
__global__ void infonce(const float* s, float* loss, int rows, int cols) {
    size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* own = s + row * cols;
    float v[16], most = -INFINITY, sum = 0.f;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        v[k] = 32 * k + lane < cols ? own[32 * k + lane] : -INFINITY;
        most = fmaxf(most, v[k]);
    }
    for (int w = 16; w; w /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, w));
#pragma unroll
    for (int k = 0; k < 16; ++k)
        if (32 * k + lane < cols) sum += expf(v[k] - most);
    for (int w = 16; w; w /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, w);
    if (lane == 0) loss[row] = (most - own[row % cols]) + logf(sum);
}
