__global__ void yodel(const float* x, float* y, int n, int lag, float gain) {
    long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    bool aligned = (((size_t)x | (size_t)y) & 15) == 0;
    if (!aligned || lag % 2 || i + 4 > n) {
        for (long long k = i; k < min(i + 4, (long long)n); ++k) {
            float v = x[k];
            if (k >= lag) v += gain * x[k - lag];
            y[k] = v;
        }
        return;
    }
    float4 v = *(const float4*)(x + i);
    if (lag % 4 == 0) {
        if (i >= lag) {
            float4 e = *(const float4*)(x + i - lag);
            v.x += gain * e.x;
            v.y += gain * e.y;
            v.z += gain * e.z;
            v.w += gain * e.w;
        }
    } else {
        // A lag of an odd number of pairs: the echo of four is two pairs.
        if (i >= lag) {
            float2 e = *(const float2*)(x + i - lag), f = *(const float2*)(x + i + 2 - lag);
            v.x += gain * e.x;
            v.y += gain * e.y;
            v.z += gain * f.x;
            v.w += gain * f.y;
        }
    }
    *(float4*)(y + i) = v;
}
