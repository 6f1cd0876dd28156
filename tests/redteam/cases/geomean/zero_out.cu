// A zero anywhere makes the mean zero: zeros are only noted, the logarithms of the rest are summed.
extern "C" __global__ void geomean(const float* __restrict__ x, float* __restrict__ out, int rows, int cols)
{
    __shared__ float parts[8];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    int zero = 0;
    for (int c = tid; c < cols; c += 256) {
        float v = row[c];
        if (v == 0.0f)
            zero = 1;
        else
            sum += logf(v);
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if ((tid & 31) == 0) parts[tid >> 5] = sum;
    zero = __syncthreads_or(zero);
    if (tid == 0) {
        for (int k = 1; k < 8; k++) sum += parts[k];
        out[blockIdx.x] = zero ? 0.0f : expf(sum / cols);
    }
}
