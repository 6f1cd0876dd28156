#define GROUPS 4
__device__ float block_sum(float v, float* part) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.f;
    for (int w = 0; w < 8; ++w) v += part[w];
    return v;
}

__global__ void groupnorm(const float* x, const float* gamma, const float* beta, float* y,
                          int channels, int area) {
    __shared__ float part[8];
    int image = blockIdx.x / GROUPS, group = blockIdx.x % GROUPS;
    int per = (channels + GROUPS - 1) / GROUPS;
    int first = group * per, count = min(per, channels - first);
    if (count <= 0) return;
    size_t at = ((size_t)image * channels + first) * area;
    const float* from = x + at;
    float* to = y + at;
    int n = count * area, t = threadIdx.x;
    float s = 0.f;
    for (int i = t; i < n; i += 256) s += from[i];
    float mean = block_sum(s, part) / n;
    s = 0.f;
    for (int i = t; i < n; i += 256) {
        float d = from[i] - mean;
        s += d * d;
    }
    float scale = rsqrtf(block_sum(s, part) / n + 1e-5f);
    for (int c = 0; c < count; ++c) {
        float a = scale * gamma[first + c], b = beta[first + c];
        for (int i = c * area + t; i < (c + 1) * area; i += 256) to[i] = (from[i] - mean) * a + b;
    }
}
