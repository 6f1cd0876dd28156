__device__ float shown(float l) { return l <= 0.0031308f ? 12.92f * l : 1.055f * powf(l, 1.f / 2.4f) - 0.055f; }

// What a screen is given for an amount of light, in place. Four at a
// time; the last four begin where they end with the last one.
__global__ void srgb(float* v, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    i = max(0, min(i, n - 4));
    float l[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) l[k] = i + k < n ? v[i + k] : 0.f;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k < n) v[i + k] = shown(l[k]);
}
