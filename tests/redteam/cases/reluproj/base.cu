// Projection with a ReLU: out[m][n] = relu(a[m][k] * w[k][n] + bias[n]); half in and out, sums in float.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define T 16

__global__ void project(const __half* a, const __half* w, const float* bias, __half* out, int m, int n, int k)
{
    __shared__ float at[T][T + 1], wt[T][T + 1];
    const int col = blockIdx.x * T + threadIdx.x, row = blockIdx.y * T + threadIdx.y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += T) {
        const int ka = k0 + threadIdx.x, kw = k0 + threadIdx.y;
        at[threadIdx.y][threadIdx.x] = row < m && ka < k ? __half2float(a[(size_t)row * k + ka]) : 0.0f;
        wt[threadIdx.y][threadIdx.x] = kw < k && col < n ? __half2float(w[(size_t)kw * n + col]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum = fmaf(at[threadIdx.y][i], wt[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < m && col < n) out[(size_t)row * n + col] = __float2half_rn(fmaxf(sum + bias[col], 0.0f));
}

extern "C" void reluproj(const __half* a, const __half* w, const float* bias, __half* out, int m, int n, int k)
{
    const dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
    project<<<grid, block>>>(a, w, bias, out, m, n, k);
}
