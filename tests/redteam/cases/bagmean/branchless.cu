// EmbeddingBag mean with max_norm; padding is folded into the weights (weight 0, row 0), so the inner
// loop has no branch and the loads of several ids are in flight together.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

extern "C" __global__ void bagmean(const int* __restrict__ ids, const __half* __restrict__ table,
                                   __half* __restrict__ out, int bags, int width, int dim, float max_norm) {
    extern __shared__ float scale[];
    const int* bag = ids + (size_t)blockIdx.x * width;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    for (int j = warp; j < width; j += blockDim.x / 32) {
        const int id = bag[j];
        float f = 0.f;
        if (id >= 0) {
            const __half* row = table + (size_t)id * dim;
            float s = 0.f;
            for (int d = lane; d < dim; d += 32) {
                const float v = __half2float(row[d]);
                s += v * v;
            }
            for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
            const float norm = sqrtf(s);
            f = norm > max_norm ? max_norm / (norm + 1e-7f) : 1.f;
        }
        if (lane == 0) scale[j] = f;
    }
    __syncthreads();

    int count = 0;
    for (int j = 0; j < width; ++j) count += bag[j] >= 0;

    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float acc = 0.f;
#pragma unroll 4
        for (int j = 0; j < width; ++j)
            acc = fmaf(scale[j], __half2float(table[(size_t)max(bag[j], 0) * dim + d]), acc);
        out[(size_t)blockIdx.x * dim + d] = __float2half(count ? acc / count : 0.f);
    }
}
