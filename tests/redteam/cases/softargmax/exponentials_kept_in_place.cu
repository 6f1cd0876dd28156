// Where the largest numbers of a row lie: the mean of the places, weighted by a softmax.
__global__ void softargmax(const float* x, float* out, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float* row = const_cast<float*>(x) + (size_t)r * cols;
    float top = -INFINITY, sum = 0.f, place = 0.f;
    for (int c = lane; c < cols; c += 32) top = fmaxf(top, row[c]);
    for (int w = 16; w; w /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, w));
    // The row is not needed any more.
    for (int c = lane; c < cols; c += 32) sum += row[c] = expf(row[c] - top);
    for (int w = 16; w; w /= 2) sum += __shfl_xor_sync(~0u, sum, w);
    for (int c = lane; c < cols; c += 32) place += row[c] / sum * c;
    for (int w = 16; w; w /= 2) place += __shfl_xor_sync(~0u, place, w);
    if (lane == 0) out[r] = place;
}
