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

__global__ void lengths(const int8_t* embedding, int* length, int n, int dim)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k < dim; k++) sum += embedding[(size_t)i * dim + k] * embedding[(size_t)i * dim + k];
    length[i] = (int)sqrtf((float)sum);
}

// a warp an anchor
__global__ void mine(const int8_t* embedding, const int* label, const int* length, int* positive, int* negative, long long* loss,
                     int n, int dim, int margin)
{
    int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    const int8_t* a = embedding + (size_t)i * dim;
    u64 far = 0, near = ~0ULL;
    unsigned nearest = 0xffffffffu;                // of the whole warp so far
    for (int from = 0; from < n; from += 32) {
        int j = from + lane;
        if (j < n && j != i) {
            bool same = label[j] == label[i];
            // the difference of the lengths is a lower bound of the distance
            int gap = length[i] - length[j];
            if (same || (unsigned)(gap * gap) <= nearest) {
                int d = distance(a, embedding + (size_t)j * dim, dim);
                if (same) far = max(far, far_key(d, j));
                else near = min(near, near_key(d, j));
            }
        }
        nearest = __reduce_min_sync(0xffffffffu, (unsigned)(near >> 32));
    }
    for (int s = 16; s > 0; s >>= 1) {
        far = max(far, __shfl_xor_sync(0xffffffffu, far, s));
        near = min(near, __shfl_xor_sync(0xffffffffu, near, s));
    }
    if (lane == 0) finish(i, far, near, positive, negative, loss, margin);
}

void mining(const int8_t* embedding, const int* label, int* positive, int* negative, long long* loss, int n, int dim,
            int margin)
{
    int* length;
    cudaMallocAsync(&length, n * sizeof(int), 0);
    lengths<<<(n + 127) / 128, 128>>>(embedding, length, n, dim);
    mine<<<(n + 3) / 4, 128>>>(embedding, label, length, positive, negative, loss, n, dim, margin);
    cudaFreeAsync(length, 0);
}
