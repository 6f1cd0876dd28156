// out[i][j] = 0.125 * <q_i, k_j> + bias_j for n queries and m keys of d numbers each.
extern "C" __global__ void affinity(const float* q, const float* k, const float* bias, float* out, int n, int m, int d)
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
        b[ty][tx] = (jl < m && c + tx < d) ? k[(size_t)jl * d + c + tx] : 0.0f;
        __syncthreads();
        int top = d - c < 16 ? d - c : 16;
        for (int e = 0; e < top; ++e) acc += a[ty][e] * b[tx][e];
        __syncthreads();
    }
    if (i < n && j < m) out[(size_t)i * m + j] = 0.125f * acc + bias[j];
}
