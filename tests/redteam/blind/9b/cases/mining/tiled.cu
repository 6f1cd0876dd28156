#include <cuda_runtime.h>
#include <cstdint>

typedef unsigned long long u64;

// Triplet mining for quantised embeddings: for each anchor the farthest row of its own class and the nearest row
// of another one (the first of equals, -1 if there is none), and the hinge loss of the two.

__device__ void finish(int i, u64 far, u64 near, int* positive, int* negative, long long* loss, int margin)
{
    bool both = far != 0 && near != ~0ULL;
    positive[i] = far != 0 ? (int)~(unsigned)far : -1;
    negative[i] = near != ~0ULL ? (int)(unsigned)near : -1;
    long long hinge = margin + (long long)(far >> 32) - (long long)(near >> 32);
    loss[i] = both && hinge > 0 ? hinge : 0;
}

// larger distances first, then smaller positions (never 0) / smaller distances, then smaller positions (never ~0)
__device__ u64 far_key(int d, int j) { return (u64)(unsigned)d << 32 | ~(unsigned)j; }
__device__ u64 near_key(int d, int j) { return (u64)(unsigned)d << 32 | (unsigned)j; }

__global__ void prepare(u64* far, u64* near, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        far[i] = 0;
        near[i] = ~0ULL;
    }
}

// 16 anchors by 16 others a block, 32 components at a time in shared memory
__global__ void tile(const int8_t* embedding, const int* label, u64* far, u64* near, int n, int dim, int across)
{
    __shared__ int8_t a[16][36], b[16][36];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int i0 = (int)(blockIdx.x / across) * 16, j0 = (int)(blockIdx.x % across) * 16;
    int sum = 0;
    for (int from = 0; from < dim; from += 32) {
        for (int k = threadIdx.x; k < 512; k += 256) {
            int r = k / 32, c = from + k % 32;
            a[r][k % 32] = i0 + r < n && c < dim ? embedding[(size_t)(i0 + r) * dim + c] : 0;
            b[r][k % 32] = j0 + r < n && c < dim ? embedding[(size_t)(j0 + r) * dim + c] : 0;
        }
        __syncthreads();
        for (int c = 0; c < 32; c++) {
            int diff = a[ty][c] - b[tx][c];
            sum += diff * diff;
        }
        __syncthreads();
    }
    int i = i0 + ty, j = j0 + tx;
    u64 f = 0, g = ~0ULL;
    if (i < n && j < n && i != j) {
        if (label[i] == label[j]) f = far_key(sum, j);
        else g = near_key(sum, j);
    }
    for (int s = 8; s > 0; s >>= 1) {
        f = max(f, __shfl_xor_sync(0xffffffffu, f, s, 16));
        g = min(g, __shfl_xor_sync(0xffffffffu, g, s, 16));
    }
    if (tx == 0 && i < n) {
        if (f != 0) atomicMax(&far[i], f);
        if (g != ~0ULL) atomicMin(&near[i], g);
    }
}

__global__ void conclude(const u64* far, const u64* near, int* positive, int* negative, long long* loss, int n, int margin)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) finish(i, far[i], near[i], positive, negative, loss, margin);
}

void mining(const int8_t* embedding, const int* label, int* positive, int* negative, long long* loss, int n, int dim,
            int margin)
{
    u64 *far, *near;
    cudaMallocAsync(&far, n * sizeof(u64), 0);
    cudaMallocAsync(&near, n * sizeof(u64), 0);
    int across = (n + 15) / 16;
    prepare<<<(n + 127) / 128, 128>>>(far, near, n);
    tile<<<(unsigned)across * across, 256>>>(embedding, label, far, near, n, dim, across);
    conclude<<<(n + 127) / 128, 128>>>(far, near, positive, negative, loss, n, margin);
    cudaFreeAsync(far, 0);
    cudaFreeAsync(near, 0);
}
