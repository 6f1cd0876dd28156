// Pearson's correlation of two rows; 0 where one of them does not vary.
__device__ float total(float v, int turn)
{
    __shared__ float part[2][4];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0) part[turn][threadIdx.x >> 5] = v;
    __syncthreads();
    return (part[turn][0] + part[turn][1]) + (part[turn][2] + part[turn][3]);
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
    float ma = total(sa, 0) / n, mb = total(sb, 1) / n;
    float aa = 0.0f, bb = 0.0f, ab = 0.0f;
    for (int i = threadIdx.x; i < n; i += 128) {
        float p = (a[i] - a0) - ma, q = (b[i] - b0) - mb;
        aa += p * p;
        bb += q * q;
        ab += p * q;
    }
    aa = total(aa, 0);
    bb = total(bb, 1);
    ab = total(ab, 0);
    if (threadIdx.x == 0) out[blockIdx.x] = aa == 0.0f || bb == 0.0f ? 0.0f : ab / (sqrtf(aa) * sqrtf(bb));
}
