// Pearson's correlation of two rows; 0 where one of them does not vary.
__device__ float total(float v)
{
    __shared__ float part[4];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    v = (part[0] + part[1]) + (part[2] + part[3]);
    __syncthreads();
    return v;
}

__global__ void pearson(const float* x, const float* y, float* out, int n)
{
    const float* a = x + (long long)blockIdx.x * n;
    const float* b = y + (long long)blockIdx.x * n;
    float a0 = a[0], b0 = b[0];
    float sa = 0.0f, sb = 0.0f;
    for (int i = threadIdx.x; i < n; i += 128) {
        sa += a[i] - a0;
        sb += b[i] - b0;
    }
    float ma = total(sa) / n, mb = total(sb) / n;
    float aa = 0.0f, bb = 0.0f, ab = 0.0f;
    for (int i = threadIdx.x; i < n; i += 128) {
        float p = (a[i] - a0) - ma, q = (b[i] - b0) - mb;
        aa += p * p;
        bb += q * q;
        ab += p * q;
    }
    aa = total(aa);
    bb = total(bb);
    ab = total(ab);
    if (threadIdx.x == 0) out[blockIdx.x] = aa == 0.0f || bb == 0.0f ? 0.0f : ab / (sqrtf(aa) * sqrtf(bb));
}
