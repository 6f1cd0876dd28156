// One logarithm a thread: mantissas are multiplied, exponents added as integers. What has no exponent of its own
// (zeros, subnormals, negative numbers, infinities, NaN) takes the logarithm by itself.
extern "C" __global__ void geomean(const float* __restrict__ x, float* __restrict__ out, int rows, int cols)
{
    __shared__ float parts[8];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float product = 1.0f, others = 0.0f;
    int powers = 0;
    for (int c = tid; c < cols; c += 256) {
        int bits = __float_as_int(row[c]);
        if (bits >= 0x00800000 && bits < 0x7f800000) {
            product *= __int_as_float((bits & 0x007fffff) | 0x3f800000);       // in [1, 2)
            powers += (bits >> 23) - 127;
            if (product >= 2.0f) {
                product *= 0.5f;
                powers++;
            }
        } else {
            others += log2f(row[c]);
        }
    }
    float sum = (float)powers + log2f(product) + others;
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if ((tid & 31) == 0) parts[tid >> 5] = sum;
    __syncthreads();
    if (tid == 0) {
        for (int k = 1; k < 8; k++) sum += parts[k];
        out[blockIdx.x] = exp2f(sum / cols);
    }
}
