// How far the values of each row are from what is expected of its columns: the sum of the weighted squares.
// Squares are multiplied out: what depends on columns alone is there once for all rows of a block.
__global__ void deviance(const float* x, const float* mu, const float* w, float* out, int rows, int cols) {
    __shared__ float part[8];
    __shared__ float all;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = 0.f;
    for (int c = threadIdx.x; c < cols; c += 256) sum += w[c] * mu[c] * mu[c];
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.f;
        for (int k = 0; k < 8; ++k) total += part[k];
        all = total;
    }
    __syncthreads();
    for (size_t r = blockIdx.x * (size_t)8 + warp; r < rows; r += gridDim.x * (size_t)8) {
        const float* own = x + r * cols;
        float square = 0.f, cross = 0.f;
        for (int c = lane; c < cols; c += 32) {
            float v = own[c], u = w[c] * v;
            square += u * v;
            cross += u * mu[c];
        }
        float v = square - 2.f * cross;
        for (int s = 16; s; s /= 2) v += __shfl_xor_sync(0xffffffffu, v, s);
        if (lane == 0) out[r] = v + all;
    }
}
