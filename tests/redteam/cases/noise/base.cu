__device__ unsigned scramble(unsigned long long key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ULL;
    key ^= key >> 33;
    return (unsigned)(key >> 16);
}

__global__ void noise(float* out, unsigned long long seed, float scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long pair = (unsigned long long)(i / 2) * 2;
    float u = (scramble(seed * 0x9E3779B97F4A7C15ULL + pair) + 1.0f) * 2.3283064e-10f;
    float v = scramble(seed * 0x9E3779B97F4A7C15ULL + pair + 1) * 2.3283064e-10f;
    float r = sqrtf(-2.0f * logf(fminf(u, 1.0f)));
    float a = 6.2831853f * v;
    out[i] = scale * r * (i % 2 ? sinf(a) : cosf(a));
}
