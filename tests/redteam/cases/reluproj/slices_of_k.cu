// Projection with a ReLU: out[m][n] = relu(a[m][k] * w[k][n] + bias[n]); half in and out, sums in float.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define T 16

#define PARTS 4

// k is cut into PARTS slices whose sums meet in `sums`, which is all zero between calls.
__global__ void project(const __half* a, const __half* w, float* sums, int m, int n, int k, int slice)
{
    __shared__ float at[T][T + 1], wt[T][T + 1];
    const int col = blockIdx.x * T + threadIdx.x, row = blockIdx.y * T + threadIdx.y;
    const int from = min((int)blockIdx.z * slice, k), to = min(from + slice, k);
    float sum = 0.0f;
    for (int k0 = from; k0 < to; k0 += T) {
        const int ka = k0 + threadIdx.x, kw = k0 + threadIdx.y;
        at[threadIdx.y][threadIdx.x] = row < m && ka < to ? __half2float(a[(size_t)row * k + ka]) : 0.0f;
        wt[threadIdx.y][threadIdx.x] = kw < to && col < n ? __half2float(w[(size_t)kw * n + col]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum = fmaf(at[threadIdx.y][i], wt[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < m && col < n && from < to) atomicAdd(&sums[(size_t)row * n + col], sum);
}

// Bias, ReLU and half; what was read is set back to 0 for the next call.
__global__ void finish(float* sums, const float* bias, __half* out, int n, size_t all)
{
    const size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    if (i >= all) return;
    out[i] = __float2half_rn(fmaxf(sums[i] + bias[i % n], 0.0f));
    sums[i] = 0.0f;
}

extern "C" void reluproj(const __half* a, const __half* w, const float* bias, __half* out, int m, int n, int k)
{
    static float* sums = nullptr;
    static size_t room = 0;
    const size_t all = (size_t)m * n;
    if (all > room) {
        cudaFree(sums);
        cudaMalloc(&sums, all * sizeof(float));
        cudaMemsetAsync(sums, 0, all * sizeof(float), 0);
        room = all;
    }
    const int slice = (k + PARTS - 1) / PARTS;
    const dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T, PARTS);
    project<<<grid, block>>>(a, w, sums, m, n, k, slice);
    finish<<<(unsigned)((all + 255) / 256), 256>>>(sums, bias, out, n, all);
}
