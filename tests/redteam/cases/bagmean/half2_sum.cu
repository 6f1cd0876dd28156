// EmbeddingBag mean with max_norm; two columns a thread with packed arithmetic where rows are even.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

extern "C" __global__ void bagmean(const int* __restrict__ ids, const __half* __restrict__ table,
                                   __half* __restrict__ out, int bags, int width, int dim, float max_norm) {
    extern __shared__ float scale[];
    const int* bag = ids + (size_t)blockIdx.x * width;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    for (int j = warp; j < width; j += blockDim.x / 32) {
        const int id = bag[j];
        if (id < 0) continue;
        const __half* row = table + (size_t)id * dim;
        float s = 0.f;
        for (int d = lane; d < dim; d += 32) {
            const float v = __half2float(row[d]);
            s += v * v;
        }
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
        const float norm = sqrtf(s);
        if (lane == 0) scale[j] = norm > max_norm ? max_norm / (norm + 1e-7f) : 1.f;
    }
    __syncthreads();

    int count = 0;
    for (int j = 0; j < width; ++j) count += bag[j] >= 0;
    const float inv = count ? 1.f / count : 0.f;

    if ((dim & 1) == 0) {
        for (int d = threadIdx.x; d < dim / 2; d += blockDim.x) {
            __half2 acc = __float2half2_rn(0.f);
            for (int j = 0; j < width; ++j) {
                const int id = bag[j];
                if (id < 0) continue;
                const __half2 v = ((const __half2*)(table + (size_t)id * dim))[d];
                acc = __hfma2(__float2half2_rn(scale[j]), v, acc);
            }
            ((__half2*)(out + (size_t)blockIdx.x * dim))[d] = __hmul2(acc, __float2half2_rn(inv));
        }
    } else {
        for (int d = threadIdx.x; d < dim; d += blockDim.x) {
            float acc = 0.f;
            for (int j = 0; j < width; ++j)
                if (bag[j] >= 0) acc += scale[j] * __half2float(table[(size_t)bag[j] * dim + d]);
            out[(size_t)blockIdx.x * dim + d] = __float2half(acc * inv);
        }
    }
}
