#define GROUPS 4

__global__ void groupnorm(const float* x, const float* gamma, const float* beta, float* y,
                          int channels, int area) {
    __shared__ float part[256];
    int image = blockIdx.x / GROUPS, group = blockIdx.x % GROUPS;
    int per = (channels + GROUPS - 1) / GROUPS;
    int first = group * per, count = min(per, channels - first);
    if (count <= 0) return;
    const float* from = x + ((size_t)image * channels + first) * area;
    float* to = y + ((size_t)image * channels + first) * area;
    int n = count * area, t = threadIdx.x;
    float s = 0.f;
    for (int i = t; i < n; i += 256) s += from[i];
    part[t] = s;
    __syncthreads();
    for (int w = 128; w > 0; w >>= 1) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    float mean = part[0] / n;
    __syncthreads();
    s = 0.f;
    for (int i = t; i < n; i += 256) {
        float d = from[i] - mean;
        s += d * d;
    }
    part[t] = s;
    __syncthreads();
    for (int w = 128; w > 0; w >>= 1) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    float scale = rsqrtf(part[0] / n + 1e-5f);
    for (int i = t; i < n; i += 256) {
        int c = first + i / area;
        to[i] = (from[i] - mean) * scale * gamma[c] + beta[c];
    }
}
