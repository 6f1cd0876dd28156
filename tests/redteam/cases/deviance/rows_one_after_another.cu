// How far the values of each row are from what is expected of its columns: the sum of the weighted squares.
// A block has a row, and then the next one of its own.
__global__ void deviance(const float* x, const float* mu, const float* w, float* out, int rows, int cols) {
    __shared__ float part[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (size_t r = blockIdx.x; r < rows; r += gridDim.x) {
        const float* own = x + r * cols;
        float sum = 0.f;
        for (size_t c = threadIdx.x; c < cols; c += 256) {
            float d = own[c] - mu[c];
            sum += w[c] * d * d;
        }
        for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
        if (lane == 0) part[warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            float total = 0.f;
            for (int k = 0; k < 8; ++k) total += part[k];
            out[r] = total;
        }
    }
}
