// EmbeddingBag mean with max_norm; the ids that are no padding are first gathered into a dense list
// (in whatever order the warps come), and the sums run over that list.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

extern "C" __global__ void bagmean(const int* __restrict__ ids, const __half* __restrict__ table,
                                   __half* __restrict__ out, int bags, int width, int dim, float max_norm) {
    extern __shared__ int2 live[];       // id, bits of the shrink factor
    __shared__ int count;
    const int* bag = ids + (size_t)blockIdx.x * width;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();

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
        if (lane == 0) {
            const float f = norm > max_norm ? max_norm / (norm + 1e-7f) : 1.f;
            live[atomicAdd(&count, 1)] = make_int2(id, __float_as_int(f));
        }
    }
    __syncthreads();

    const int used = count;
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float acc = 0.f;
        for (int j = 0; j < used; ++j) {
            const int2 e = live[j];
            acc += __int_as_float(e.y) * __half2float(table[(size_t)e.x * dim + d]);
        }
        out[(size_t)blockIdx.x * dim + d] = __float2half(used ? acc / used : 0.f);
    }
}
