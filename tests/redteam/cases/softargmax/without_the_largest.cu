// Where the largest numbers of a row lie: the mean of the places, weighted by a softmax.
__global__ void softargmax(const float* x, float* out, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    x += (size_t)r * cols;
    float sum = 0.f, place = 0.f;
    // What all are divided by falls out again.
    for (int c = lane; c < cols; c += 32) {
        float e = expf(x[c]);
        sum += e;
        place += e * c;
    }
    for (int w = 16; w; w /= 2) {
        sum += __shfl_xor_sync(~0u, sum, w);
        place += __shfl_xor_sync(~0u, place, w);
    }
    if (lane == 0) out[r] = place / sum;
}
