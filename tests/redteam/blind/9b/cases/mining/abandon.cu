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

// a warp an anchor
__global__ void mine(const int8_t* embedding, const int* label, int* positive, int* negative, long long* loss,
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
            const int8_t* b = embedding + (size_t)j * dim;
            bool same = label[j] == label[i];
            unsigned sum = 0;
            int k = 0;
            while (k < dim && (same || sum < nearest)) {   // a sum that has reached the nearest has lost
                int stop = min(dim, k + 16);
                for (; k < stop; k++) {
                    int diff = a[k] - b[k];
                    sum += diff * diff;
                }
            }
            if (same) far = max(far, far_key((int)sum, j));
            else if (sum < nearest) near = min(near, near_key((int)sum, j));
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
    mine<<<(n + 3) / 4, 128>>>(embedding, label, positive, negative, loss, n, dim, margin);
}
