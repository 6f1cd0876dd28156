// Kendall's rank statistics of d features against one target: for each feature the concordant less the discordant
// pairs, the pairs tied in the feature, and the pairs tied in both.
#include <cuda_runtime.h>

__global__ void clear(long long* out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 0;
}

__global__ void count_pairs(const int* x, const int* y, long long* out, int n)
{
    int f = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (n + 1) / 2) return;
    const int* column = x + (size_t)f * n;
    long long score = 0, tied = 0, both = 0;
    for (int side = 0; side < 2; side++) {
        int row = side ? n - 1 - i : i;
        if (side && row == i) break;
        int xi = column[row], yi = y[row];
        for (int j = row + 1; j < n; j++) {
            int dx = column[j] - xi, dy = y[j] - yi;
            tied += dx == 0;
            both += (dx | dy) == 0;
            if (dx != 0 && dy != 0) score += (dx ^ dy) >= 0 ? 1 : -1;
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
    dim3 grid(((n + 1) / 2 + 127) / 128, d);
    count_pairs<<<grid, 128>>>(x, y, out, n);
}
