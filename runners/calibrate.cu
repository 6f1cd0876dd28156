// What this GPU can do at most: each kernel keeps one unit busy and nothing else.

#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void copy(uint4* out, const uint4* in, unsigned long long words) {
    const unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < words; i += threads) out[i] = in[i];
}

// Reads a buffer that fits into L2 again and again.
extern "C" __global__ void reread(const uint4* in, unsigned long long words, unsigned times,
                                  unsigned* sink) {
    const unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;
    unsigned all = 0;
    for (unsigned t = 0; t < times; ++t)
        for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
             i < words; i += threads) {
            const uint4 v = __ldcg(in + i);
            all ^= v.x ^ v.y ^ v.z ^ v.w ^ t;
        }
    if (all == 0x5EED1E55u) *sink = all;
}

template <class T>
__device__ void chains(T* sink, unsigned times, T a, T b) {
    T x[8];
    for (int i = 0; i < 8; ++i) x[i] = a + T(threadIdx.x + i) * b;
    for (unsigned t = 0; t < times; ++t)
#pragma unroll
        for (int i = 0; i < 8; ++i) x[i] = x[i] * a + b;
    T all = x[0];
    for (int i = 1; i < 8; ++i) all += x[i];
    if (all == T(12345)) *sink = all;
}

extern "C" __global__ void fp32(float* sink, unsigned times) { chains<float>(sink, times, 0.999f, 1e-3f); }
extern "C" __global__ void fp64(double* sink, unsigned times) { chains<double>(sink, times, 0.999, 1e-3); }

extern "C" __global__ void fp16(__half2* sink, unsigned times) {
    const __half2 a = __float2half2_rn(0.99f), b = __float2half2_rn(0.01f);
    __half2 x[8];
    for (int i = 0; i < 8; ++i) x[i] = __float2half2_rn(0.1f * (threadIdx.x + i));
    for (unsigned t = 0; t < times; ++t)
#pragma unroll
        for (int i = 0; i < 8; ++i) x[i] = __hfma2(x[i], a, b);
    __half2 all = x[0];
    for (int i = 1; i < 8; ++i) all = __hadd2(all, x[i]);
    if (__low2float(all) == 12345.f) *sink = all;
}

// Half inputs, float sums, 16x16x16 through the warp-level interface.
extern "C" __global__ void tensor(float* sink, unsigned times) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[4];
    wmma::fill_fragment(a, __float2half(0.01f * (threadIdx.x & 7)));
    wmma::fill_fragment(b, __float2half(0.02f * (threadIdx.x & 3)));
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(c[i], 0.f);
    for (unsigned t = 0; t < times; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) wmma::mma_sync(c[i], a, b, c[i]);
    float all = 0;
    for (int i = 0; i < 4; ++i) for (int k = 0; k < c[i].num_elements; ++k) all += c[i].x[k];
    if (all == 12345.f) *sink = all;
}
