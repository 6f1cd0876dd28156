// EmbeddingBag mean with max_norm; two columns a load where rows are even (every row then begins at a
// multiple of four bytes), sums in float, and one warp a bag does both sweeps with the factor in registers.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(128)
bagmean(const int* __restrict__ ids, const __half* __restrict__ table,
        __half* __restrict__ out, int bags, int width, int dim, float max_norm) {
    extern __shared__ float pool[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int b = blockIdx.x * 4 + warp;
    if (b >= bags) return;               // no block barrier below
    float* scale = pool + warp * width;
    const int* bag = ids + (size_t)b * width;
    const bool even = (dim & 1) == 0;

    int count = 0;
    for (int j = 0; j < width; ++j) {
        const int id = bag[j];
        if (id < 0) continue;
        ++count;
        const __half* row = table + (size_t)id * dim;
        float s = 0.f, t = 0.f;
        if (even) {
            for (int d = lane; d < dim / 2; d += 32) {
                const float2 v = __half22float2(((const __half2*)row)[d]);
                s = fmaf(v.x, v.x, s);
                t = fmaf(v.y, v.y, t);
            }
        } else {
            for (int d = lane; d < dim; d += 32) {
                const float v = __half2float(row[d]);
                s = fmaf(v, v, s);
            }
        }
        s += t;
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
        const float norm = sqrtf(s);
        if (lane == 0) scale[j] = norm > max_norm ? max_norm / (norm + 1e-7f) : 1.f;
    }
    __syncwarp();

    if (even) {
        for (int d = lane; d < dim / 2; d += 32) {
            float2 acc = make_float2(0.f, 0.f);
            for (int j = 0; j < width; ++j) {
                const int id = bag[j];
                if (id < 0) continue;
                const float2 v = __half22float2(((const __half2*)(table + (size_t)id * dim))[d]);
                acc.x = fmaf(scale[j], v.x, acc.x);
                acc.y = fmaf(scale[j], v.y, acc.y);
            }
            if (count) { acc.x /= count; acc.y /= count; }
            ((__half2*)(out + (size_t)b * dim))[d] = __floats2half2_rn(acc.x, acc.y);
        }
    } else {
        for (int d = lane; d < dim; d += 32) {
            float acc = 0.f;
            for (int j = 0; j < width; ++j)
                if (bag[j] >= 0) acc = fmaf(scale[j], __half2float(table[(size_t)bag[j] * dim + d]), acc);
            out[(size_t)b * dim + d] = __float2half(count ? acc / count : 0.f);
        }
    }
}
