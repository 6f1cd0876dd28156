// How far the numbers of a row are from their mean, on average. A warp has a row, and leaves the
// distances where the numbers were, so that they are at hand.
__global__ void meandev(const float* x, float* out, int rows, int cols) {
    size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    float* own = (float*)x + row * cols;
    float sum = 0.f, far = 0.f;
    for (size_t c = lane; c < cols; c += 32) sum += own[c];
    for (int w = 16; w; w /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, w);
    float mean = sum / cols;
    for (size_t c = lane; c < cols; c += 32) {
        own[c] -= mean;
        far += fabsf(own[c]);
    }
    for (int w = 16; w; w /= 2) far += __shfl_xor_sync(0xffffffffu, far, w);
    if (lane == 0) out[row] = far / cols;
}
