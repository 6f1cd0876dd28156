__device__ __forceinline__ unsigned scramble(unsigned long long key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ULL;
    key ^= key >> 33;
    return (unsigned)(key >> 16);
}

__global__ void noise(float* __restrict__ out, unsigned long long seed, float scale, int n) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * p;
    if (i >= n) return;
    const unsigned long long key = seed * 0x9E3779B97F4A7C15ULL + (unsigned long long)i;
    const float u = (scramble(key) + 1.0f) * 2.3283064e-10f, v = scramble(key + 1) * 2.3283064e-10f;
    const float r = scale * sqrtf(-2.0f * logf(fminf(u, 1.0f)));
    float s, c;
    sincosf(6.2831853f * v, &s, &c);
    if (i + 1 < n)
        *reinterpret_cast<float2*>(out + i) = make_float2(r * c, r * s);
    else
        out[i] = r * c;
}
