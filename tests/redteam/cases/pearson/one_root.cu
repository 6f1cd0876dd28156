// Pearson's correlation of two rows; 0 where one of them does not vary.
__device__ float total(float v)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = v;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    v = part[0];
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
    float both = aa * bb;
    if (threadIdx.x == 0) out[blockIdx.x] = both < 1e-20f ? 0.0f : ab / sqrtf(both);
}
