// 64 x 64 outputs per block of 16 x 16 threads, 4 x 4 of them per thread in registers.
extern "C" __global__ void __launch_bounds__(256) affinity(const float* __restrict__ q, const float* __restrict__ k,
                                                           const float* __restrict__ bias, float* __restrict__ out, int n, int m, int d)
{
    __shared__ float a[16][65];
    __shared__ float b[16][65];
    int tx = threadIdx.x, ty = threadIdx.y;
    int t = ty * 16 + tx;
    int i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
    float acc[4][4] = {};
    for (int c = 0; c < d; c += 16) {
        for (int e = t; e < 64 * 16; e += 256) {
            int row = e >> 4, col = e & 15;
            a[col][row] = (i0 + row < n && c + col < d) ? q[(size_t)(i0 + row) * d + c + col] : 0.0f;
            b[col][row] = (j0 + row < m && c + col < d) ? k[(size_t)(j0 + row) * d + c + col] : 0.0f;
        }
        __syncthreads();
        int top = min(16, d - c);
        for (int e = 0; e < top; ++e) {
            float u[4], v[4];
            #pragma unroll
            for (int s = 0; s < 4; ++s) { u[s] = a[e][ty + 16 * s]; v[s] = b[e][tx + 16 * s]; }
            #pragma unroll
            for (int s = 0; s < 4; ++s)
                #pragma unroll
                for (int z = 0; z < 4; ++z) acc[s][z] = fmaf(u[s], v[z], acc[s][z]);
        }
        __syncthreads();
    }
    #pragma unroll
    for (int s = 0; s < 4; ++s)
        #pragma unroll
        for (int z = 0; z < 4; ++z) {
            int i = i0 + ty + 16 * s, j = j0 + tx + 16 * z;
            if (i < n && j < m) out[(size_t)i * m + j] = fmaf(0.125f, acc[s][z], bias[j]);
        }
}
