// How far the values of each row are from what is expected of its columns: the sum of the weighted squares.
// Blocks stay; what belongs to columns is held in registers.
__global__ void deviance(const float* x, const float* mu, const float* w, float* out, int rows, int cols) {
    __shared__ float part[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float m[4], v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int c = k * 256 + threadIdx.x;
        m[k] = c < cols ? mu[c] : 0.f;
        v[k] = c < cols ? w[c] : 0.f;
    }
    for (size_t r = blockIdx.x; r < rows; r += gridDim.x) {
        const float* own = x + r * cols;
        float sum = 0.f;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            int c = k * 256 + threadIdx.x;
            if (c < cols) {
                float d = own[c] - m[k];
                sum += v[k] * d * d;
            }
        }
        for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
        if (lane == 0) part[warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            float total = 0.f;
            for (int k = 0; k < 8; ++k) total += part[k];
            out[r] = total;
        }
        __syncthreads();
    }
}
