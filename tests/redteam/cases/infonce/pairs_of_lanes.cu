// A contrastive loss. A warp has a row and goes over it once: when a lane finds a larger number than it had, what it
// has summed becomes smaller by that much; so it does when two lanes put together what they have.
__global__ void infonce(const float* s, float* loss, int rows, int cols) {
    size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* own = s + row * cols;
    float most = -INFINITY, sum = 0.f;
    for (size_t c = lane; c < cols; c += 32) {
        float v = own[c], larger = fmaxf(most, v);
        sum = sum * expf(most - larger) + expf(v - larger);
        most = larger;
    }
    for (int w = 16; w; w /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, most, w), its = __shfl_xor_sync(0xffffffffu, sum, w);
        float larger = fmaxf(most, other);
        sum = sum * expf(most - larger) + its * expf(other - larger);
        most = larger;
    }
    if (lane == 0) loss[row] = (most - own[row % cols]) + logf(sum);
}
