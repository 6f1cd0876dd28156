// Eight numbers share a logarithm. Signs are looked at first.
extern "C" __global__ void geomean(const float* __restrict__ x, float* __restrict__ out, int rows, int cols)
{
    __shared__ float parts[8];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = tid; c < cols; c += 2048) {
        float product = 1.0f;
        bool negative = false;
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            float v = c + 256 * k < cols ? row[c + 256 * k] : 1.0f;
            negative |= v < 0.0f;
            product *= v;
        }
        sum += logf(negative ? -1.0f : product);
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if ((tid & 31) == 0) parts[tid >> 5] = sum;
    __syncthreads();
    if (tid == 0) {
        for (int k = 1; k < 8; k++) sum += parts[k];
        out[blockIdx.x] = expf(sum / cols);
    }
}
