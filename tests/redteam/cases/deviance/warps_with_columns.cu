// How far the values of each row are from what is expected of its columns: the sum of the weighted squares.
// A block has a row; warps without columns have nothing to add.
__global__ void deviance(const float* x, const float* mu, const float* w, float* out, int rows, int cols) {
    __shared__ float part[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t r = blockIdx.x;
    const float* own = x + r * cols;
    if (warp * 32 < cols) {
        float sum = 0.f;
        for (size_t c = threadIdx.x; c < cols; c += 256) {
            float d = own[c] - mu[c];
            sum += w[c] * d * d;
        }
        for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
        if (lane == 0) part[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        float total = lane < 8 ? part[lane] : 0.f;
        for (int s = 4; s; s /= 2) total += __shfl_xor_sync(0xffffffffu, total, s);
        if (lane == 0) out[r] = total;
    }
}
