// Shuffles within the warps, then the first warp adds up the warps.
extern "C" __global__ void geomean(const float* __restrict__ x, float* __restrict__ out, int rows, int cols)
{
    __shared__ float parts[32];
    int tid = threadIdx.x, lane = tid & 31;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = tid; c < cols; c += blockDim.x) sum += logf(row[c]);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) parts[tid >> 5] = sum;
    __syncthreads();
    if (tid < 32) {
        sum = parts[lane];
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (lane == 0) out[blockIdx.x] = expf(sum / cols);
    }
}
