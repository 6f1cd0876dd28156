// The base's tiles, with the address arithmetic kept in 32-bit registers and the pointers stepped along.
extern "C" __global__ void __launch_bounds__(256) affinity(const float* __restrict__ q, const float* __restrict__ k,
                                                           const float* __restrict__ bias, float* __restrict__ out, int n, int m, int d)
{
    __shared__ float a[16][17];
    __shared__ float b[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    int j = blockIdx.x * 16 + tx;
    int i = blockIdx.y * 16 + ty;
    int jl = blockIdx.x * 16 + ty;
    const float* qi = q + i * d;
    const float* kj = k + jl * d;
    float acc = 0.0f;
    for (int c = 0; c < d; c += 16) {
        a[ty][tx] = (i < n && c + tx < d) ? qi[c + tx] : 0.0f;
        b[ty][tx] = (jl < m && c + tx < d) ? kj[c + tx] : 0.0f;
        __syncthreads();
        int top = min(16, d - c);
        #pragma unroll 4
        for (int e = 0; e < top; ++e) acc = fmaf(a[ty][e], b[tx][e], acc);
        __syncthreads();
    }
    if (i < n && j < m) out[i * m + j] = fmaf(0.125f, acc, bias[j]);
}
