// One logarithm a thread: mantissas are multiplied, exponents added as integers. What has no exponent of its own
// (zeros, subnormals, infinities, NaN) takes the logarithm by itself.
extern "C" __global__ void geomean(const float* __restrict__ x, float* __restrict__ out, int rows, int cols)
{
    __shared__ float parts[8];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float product = 1.0f, others = 0.0f;
    int powers = 0;
    for (int c = tid; c < cols; c += 256) {
        unsigned bits = __float_as_uint(row[c]);
        unsigned power = bits >> 23 & 255u;
        if (power != 0u && power != 255u) {
            product *= __uint_as_float((bits & 0x807fffffu) | 0x3f800000u);    // mantissa and sign
            powers += (int)power - 127;
            if (fabsf(product) >= 2.0f) {
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
