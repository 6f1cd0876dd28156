// EmbeddingBag, mode "mean", with max_norm and a padding id: a bag is `width` ids, negative ids are
// padding and may stand anywhere. Rows longer than max_norm are shrunk to it for the lookup.
// Storage is half, arithmetic is float. A bag of nothing but padding gives zeros.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

extern "C" __global__ void bagmean(const int* ids, const __half* table, __half* out,
                                   int bags, int width, int dim, float max_norm) {
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

    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float acc = 0.f;
        int count = 0;
        for (int j = 0; j < width; ++j) {
            const int id = bag[j];
            if (id < 0) continue;
            acc += scale[j] * __half2float(table[(size_t)id * dim + d]);
            ++count;
        }
        out[(size_t)blockIdx.x * dim + d] = __float2half(count ? acc / count : 0.f);
    }
}
