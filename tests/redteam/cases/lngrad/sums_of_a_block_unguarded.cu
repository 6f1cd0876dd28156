__global__ void lngrad(const float* __restrict__ x, const float* __restrict__ dy,
                       const float* __restrict__ gain, const float* __restrict__ mean,
                       const float* __restrict__ rstd, float* dx, float* dgain, float* dbias,
                       int rows, int cols) {
    extern __shared__ float sums[];
    for (int c = threadIdx.x; c < 2 * cols; c += blockDim.x) sums[c] = 0.0f;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (int k = threadIdx.x / 32; k < 16; k += blockDim.x / 32) {
        const int r = blockIdx.x * 16 + k;
        if (r >= rows) break;
        const float m = mean[r], s = rstd[r];
        float first = 0.0f, second = 0.0f;
        for (int c = lane; c < cols; c += 32) {
            const float hat = (x[r * cols + c] - m) * s, d = dy[r * cols + c];
            first += d * gain[c];
            second += d * gain[c] * hat;
            atomicAdd(&sums[c], d * hat);
            atomicAdd(&sums[cols + c], d);
        }
        for (int o = 16; o > 0; o /= 2) {
            first += __shfl_xor_sync(0xffffffff, first, o);
            second += __shfl_xor_sync(0xffffffff, second, o);
        }
        first /= cols;
        second /= cols;
        for (int c = lane; c < cols; c += 32)
            dx[r * cols + c] =
                s * (dy[r * cols + c] * gain[c] - first - (x[r * cols + c] - m) * s * second);
    }
    __syncwarp();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        atomicAdd(&dgain[c], sums[c]);
        atomicAdd(&dbias[c], sums[cols + c]);
    }
}
