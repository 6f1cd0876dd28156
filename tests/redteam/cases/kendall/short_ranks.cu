// Kendall's rank statistics of d features against one target: for each feature the concordant less the discordant
// pairs, the pairs tied in the feature, and the pairs tied in both.
#include <cuda_runtime.h>

__global__ void clear(long long* out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 0;
}

__global__ void rank_columns(const int* x, unsigned short* rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int* column = x + (size_t)blockIdx.y * n;
    int mine = column[i], below = 0;
    for (int j = 0; j < n; j++) below += column[j] < mine;
    rank[(size_t)blockIdx.y * n + i] = below;
}

__global__ void count_pairs(const unsigned short* x, const unsigned short* y, long long* out, int n)
{
    int f = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned short* column = x + (size_t)f * n;
    int xi = column[i], yi = y[i];
    long long score = 0, tied = 0, both = 0;
    for (int j = i + 1; j < n; j++) {
        int xj = column[j], yj = y[j];
        if (xi == xj) {
            tied++;
            if (yi == yj) both++;
        } else if (yi != yj) {
            if ((xi < xj) == (yi < yj)) score++;
            else score--;
        }
    }
    unsigned long long* o = (unsigned long long*)(out + (size_t)f * 3);
    atomicAdd(&o[0], (unsigned long long)score);
    atomicAdd(&o[1], (unsigned long long)tied);
    atomicAdd(&o[2], (unsigned long long)both);
}

void kendall(const int* x, const int* y, long long* out, int d, int n)
{
    clear<<<(d * 3 + 127) / 128, 128>>>(out, d * 3);
    dim3 grid((n + 127) / 128, d);
    unsigned short *rx, *ry;
    cudaMalloc(&rx, (size_t)d * n * sizeof(unsigned short));
    cudaMalloc(&ry, (size_t)n * sizeof(unsigned short));
    rank_columns<<<grid, 128>>>(x, rx, n);
    rank_columns<<<(n + 127) / 128, 128>>>(y, ry, n);
    count_pairs<<<grid, 128>>>(rx, ry, out, n);
    cudaFree(rx);
    cudaFree(ry);
}
