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

// four chains of fused multiply-adds; small whole numbers are exact in float
__device__ float distance(const int8_t* a, const int8_t* b, int dim)
{
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int k = 0;
    for (; k + 4 <= dim; k += 4) {
        float x = a[k] - b[k], y = a[k + 1] - b[k + 1], z = a[k + 2] - b[k + 2], w = a[k + 3] - b[k + 3];
        s0 += x * x;
        s1 += y * y;
        s2 += z * z;
        s3 += w * w;
    }
    for (; k < dim; k++) {
        float x = a[k] - b[k];
        s0 += x * x;
    }
    return (s0 + s1) + (s2 + s3);
}

// a warp an anchor
__global__ void mine(const int8_t* embedding, const int* label, int* positive, int* negative, long long* loss,
                     int n, int dim, int margin)
{
    int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    const int8_t* a = embedding + (size_t)i * dim;
    u64 far = 0, near = ~0ULL;
    for (int j = lane; j < n; j += 32) {
        if (j == i) continue;
        int d = (int)distance(a, embedding + (size_t)j * dim, dim);
        if (label[j] == label[i]) far = max(far, far_key(d, j));
        else near = min(near, near_key(d, j));
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
    mine<<<(n + 3) / 4, 128>>>(embedding, label, positive, negative, loss, n, dim, margin);
}
