// Layer normalisation over the last dimension, half precision in and out, float statistics.
//
//     y = (x - mean(x)) / sqrt(var(x) + eps) * gamma + beta
//
// One block handles one row (one token).
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace {

constexpr int kThreads = 256;

__device__ float block_sum(float value, float* scratch)
{
    int tid = threadIdx.x;
    scratch[tid] = value;
    __syncthreads();
    for (int offset = kThreads / 2; offset > 0; offset /= 2) {
        if (tid < offset) scratch[tid] += scratch[tid + offset];
        __syncthreads();
    }
    float total = scratch[0];
    __syncthreads();  // scratch is used again by the caller
    return total;
}

__global__ void layernorm_kernel(const __half* x, const __half* gamma, const __half* beta,
                                 __half* y, int hidden, float eps)
{
    __shared__ float scratch[kThreads];

    const __half* row_in = x + (size_t)blockIdx.x * hidden;
    __half* row_out = y + (size_t)blockIdx.x * hidden;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += kThreads) {
        sum += __half2float(row_in[i]);
    }
    float mean = block_sum(sum, scratch) / hidden;

    float sq = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += kThreads) {
        float d = __half2float(row_in[i]) - mean;
        sq += d * d;
    }
    float var = block_sum(sq, scratch) / hidden;

    for (int i = threadIdx.x; i < hidden; i += kThreads) {
        float v = (__half2float(row_in[i]) - mean) / sqrtf(var + eps);
        row_out[i] = __float2half(v * __half2float(gamma[i]) + __half2float(beta[i]));
    }
}

}  // namespace

void layernorm(const __half* x, const __half* gamma, const __half* beta, __half* y, int rows,
               int hidden, float eps, cudaStream_t stream)
{
    layernorm_kernel<<<rows, kThreads, 0, stream>>>(x, gamma, beta, y, hidden, eps);
}
