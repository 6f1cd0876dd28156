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
    float a0 = x[0], b0 = y[0];
    float sa = 0.0f, sb = 0.0f, aa = 0.0f, bb = 0.0f, ab = 0.0f;
    bool va = false, vb = false;
    for (int i = threadIdx.x; i < n; i += 128) {
        float p = a[i] - a0, q = b[i] - b0;
        sa += p;
        sb += q;
        aa += p * p;
        bb += q * q;
        ab += p * q;
        va = va || a[i] != a[0];
        vb = vb || b[i] != b[0];
    }
    va = __syncthreads_or(va);
    vb = __syncthreads_or(vb);
    sa = total(sa);
    sb = total(sb);
    aa = va ? total(aa) - sa * sa / n : 0.0f;
    bb = vb ? total(bb) - sb * sb / n : 0.0f;
    ab = total(ab) - sa * sb / n;
    if (threadIdx.x == 0) out[blockIdx.x] = aa == 0.0f || bb == 0.0f ? 0.0f : ab / (sqrtf(aa) * sqrtf(bb));
}
