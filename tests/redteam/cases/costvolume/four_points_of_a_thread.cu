// Correlation layer of an optical flow network: the mean product of the features of each point of the first
// picture with those of the second around it, for all shifts up to `radius` in both directions. What lies outside
// of the second picture counts as zero. A thread takes four points of a row, and reads twelve of the second picture
// for all of their shifts.
extern "C" __global__ void __launch_bounds__(256)
    costvolume(const float* __restrict__ first, const float* __restrict__ second, float* __restrict__ volume,
               int channels, int h, int w, int radius) {
    int x = 4 * (blockIdx.x * 32 + threadIdx.x);
    int y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t plane = (size_t)h * w;
    const float* a = first + blockIdx.z * (size_t)channels * plane + (size_t)y * w;
    const float* b = second + blockIdx.z * (size_t)channels * plane;
    int side = 2 * radius + 1;
    float* out = volume + (size_t)blockIdx.z * side * side * plane + (size_t)y * w;
    float scale = 1.0f / channels;
    bool vectors = w % 4 == 0;
    for (int dy = -radius; dy <= radius; ++dy) {
        int v = y + dy;
        float sum[9][4] = {};
        if (v >= 0 && v < h)
            for (int c = 0; c < channels; ++c) {
                const float* p = a + c * plane;
                const float* q = b + c * plane + (size_t)v * w;
                float mine[4], other[12];
                if (vectors) {
                    float4 m = *(const float4*)(p + x);
                    mine[0] = m.x, mine[1] = m.y, mine[2] = m.z, mine[3] = m.w;
#pragma unroll
                    for (int k = 0; k < 3; ++k) {
                        int u = x + 4 * k - 4;
                        float4 o = u >= 0 && u < w ? *(const float4*)(q + u) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                        other[4 * k] = o.x, other[4 * k + 1] = o.y, other[4 * k + 2] = o.z, other[4 * k + 3] = o.w;
                    }
                } else {
#pragma unroll
                    for (int k = 0; k < 4; ++k) mine[k] = x + k < w ? p[x + k] : 0.0f;
#pragma unroll
                    for (int k = 0; k < 12; ++k) {
                        int u = x + k - 4;
                        other[k] = u >= 0 && u < w ? q[u] : 0.0f;
                    }
                }
#pragma unroll
                for (int s = 0; s < 9; ++s)
#pragma unroll
                    for (int k = 0; k < 4; ++k) sum[s][k] = fmaf(mine[k], other[s + k], sum[s][k]);
            }
#pragma unroll
        for (int s = 0; s < 9; ++s) {
            int dx = s - 4;
            if (dx < -radius || dx > radius) continue;
            float* to = out + ((size_t)(dy + radius) * side + (dx + radius)) * plane;
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (x + k < w) to[x + k] = sum[s][k] * scale;
        }
    }
}
