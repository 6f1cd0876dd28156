#include <cuda_fp16.h>
// Correlation layer of an optical flow network: the mean product of the features of each point of the first
// picture with those of the second around it, for all shifts up to `radius` in both directions. What lies outside
// of the second picture counts as zero. Four channels are in flight at a time,
// and pairs of them at once where there are many.
extern "C" __global__ void __launch_bounds__(256)
    costvolume(const float* __restrict__ first, const float* __restrict__ second, float* __restrict__ volume,
               int channels, int h, int w, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t plane = (size_t)h * w;
    const float* a = first + blockIdx.z * (size_t)channels * plane + (size_t)y * w + x;
    const float* b = second + blockIdx.z * (size_t)channels * plane;
    int side = 2 * radius + 1;
    float* out = volume + (size_t)blockIdx.z * side * side * plane + (size_t)y * w + x;
    float scale = 1.0f / channels;
    for (int dy = -radius; dy <= radius; ++dy) {
        int v = y + dy;
        for (int dx = -radius; dx <= radius; ++dx) {
            int u = x + dx;
            float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
            if (v >= 0 && v < h && u >= 0 && u < w) {
                const float* p = a;
                const float* q = b + (size_t)v * w + u;
                int c = 0;
                if (channels >= 128)
                    for (; c + 3 < channels; c += 4, p += 4 * plane, q += 4 * plane) {
                        half2 low = __hmul2(__floats2half2_rn(p[0], p[plane]), __floats2half2_rn(q[0], q[plane]));
                        half2 high = __hmul2(__floats2half2_rn(p[2 * plane], p[3 * plane]),
                                             __floats2half2_rn(q[2 * plane], q[3 * plane]));
                        float2 a01 = __half22float2(low), a23 = __half22float2(high);
                        s0 += a01.x, s1 += a01.y, s2 += a23.x, s3 += a23.y;
                    }
                for (; c + 3 < channels; c += 4, p += 4 * plane, q += 4 * plane) {
                    s0 = fmaf(p[0], q[0], s0);
                    s1 = fmaf(p[plane], q[plane], s1);
                    s2 = fmaf(p[2 * plane], q[2 * plane], s2);
                    s3 = fmaf(p[3 * plane], q[3 * plane], s3);
                }
                for (; c < channels; ++c, p += plane, q += plane) s0 = fmaf(*p, *q, s0);
            }
            *out = ((s0 + s1) + (s2 + s3)) * scale;
            out += plane;
        }
    }
}
