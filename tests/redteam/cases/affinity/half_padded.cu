// Full tiles with an unrolled inner loop. Past the end of d the query tile is padded with zeros; a zero on one side is
// enough for the product, so the key tile is left as it is there.
extern "C" __global__ void __launch_bounds__(256) affinity(const float* __restrict__ q, const float* __restrict__ k,
                                                           const float* __restrict__ bias, float* __restrict__ out, int n, int m, int d)
{
    __shared__ float a[16][17];
    __shared__ float b[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    int j = blockIdx.x * 16 + tx;
    int i = blockIdx.y * 16 + ty;
    int jl = blockIdx.x * 16 + ty;
    float acc = 0.0f;
    for (int c = 0; c < d; c += 16) {
        a[ty][tx] = (i < n && c + tx < d) ? q[(size_t)i * d + c + tx] : 0.0f;
        if (jl < m && c + tx < d) b[ty][tx] = k[(size_t)jl * d + c + tx];
        __syncthreads();
        #pragma unroll
        for (int e = 0; e < 16; ++e) acc = fmaf(a[ty][e], b[tx][e], acc);
        __syncthreads();
    }
    if (i < n && j < m) out[(size_t)i * m + j] = fmaf(0.125f, acc, bias[j]);
}
