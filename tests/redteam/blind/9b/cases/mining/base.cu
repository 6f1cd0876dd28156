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

__device__ int distance(const int8_t* a, const int8_t* b, int dim)
{
    int sum = 0;
    for (int k = 0; k < dim; k++) {
        int diff = a[k] - b[k];
        sum += diff * diff;
    }
    return sum;
}

// a block an anchor
__global__ void mine(const int8_t* embedding, const int* label, int* positive, int* negative, long long* loss, int n,
                     int dim, int margin)
{
    __shared__ u64 far, near;
    int i = blockIdx.x;
    if (threadIdx.x == 0) {
        far = 0;
        near = ~0ULL;
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        if (j == i) continue;
        int d = distance(embedding + (size_t)i * dim, embedding + (size_t)j * dim, dim);
        if (label[j] == label[i]) atomicMax(&far, far_key(d, j));
        else atomicMin(&near, near_key(d, j));
    }
    __syncthreads();
    if (threadIdx.x == 0) finish(i, far, near, positive, negative, loss, margin);
}

void mining(const int8_t* embedding, const int* label, int* positive, int* negative, long long* loss, int n, int dim,
            int margin)
{
    mine<<<n, 128>>>(embedding, label, positive, negative, loss, n, dim, margin);
}
