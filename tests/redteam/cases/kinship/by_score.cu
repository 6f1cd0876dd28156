// Pairwise identity by state of genotyped individuals, and everyone's nearest relative.
// A genotype is 0, 1 or 2 copies of the minor allele, or -1 where the marker was not called.
#include <cuda_runtime.h>
#include <cstdint>

#define SIDE 16
#define SPAN 64

__global__ void pairs_kernel(const int8_t* __restrict__ geno, int* __restrict__ common,
                             int* __restrict__ apart, float* __restrict__ score, int n, int s)
{
    __shared__ int8_t left[SIDE][SPAN + 4];
    __shared__ int8_t right[SIDE][SPAN + 4];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    int both = 0, far = 0;
    for (int first = 0; first < s; first += SPAN) {
        for (int k = ty * SIDE + tx; k < SIDE * SPAN; k += SIDE * SIDE) {
            int r = k / SPAN, m = k % SPAN;
            bool in = first + m < s;
            left[r][m] = in && row0 + r < n ? geno[(size_t)(row0 + r) * s + first + m] : (int8_t)-1;
            right[r][m] = in && col0 + r < n ? geno[(size_t)(col0 + r) * s + first + m] : (int8_t)-1;
        }
        __syncthreads();
        for (int m = 0; m < SPAN; ++m) {
            int a = left[ty][m], b = right[tx][m];
            if (a >= 0 && b >= 0) {
                both += 1;
                far += abs(a - b);
            }
        }
        __syncthreads();
    }
    int i = row0 + ty, j = col0 + tx;
    if (i < n && j < n) {
        size_t at = (size_t)i * n + j;
        common[at] = both;
        apart[at] = far;
        score[at] = both > 0 ? 1.0f - (float)far / (float)(2 * both) : 0.0f;
    }
}

// Is a with score sa nearer than b with score sb? Equal: the lower index.
__device__ bool nearer(float sa, int a, float sb, int b)
{
    if (a < 0) return false;
    if (b < 0) return true;
    return sa > sb || (sa == sb && a < b);
}

__global__ void nearest_kernel(const int* __restrict__ common, const float* __restrict__ score,
                               int* __restrict__ nearest, int n)
{
    __shared__ float ss[128];
    __shared__ int sj[128];
    int i = blockIdx.x, t = threadIdx.x;
    float s = 0.0f;
    int best = -1;
    for (int j = t; j < n; j += 128) {
        size_t at = (size_t)i * n + j;
        if (j != i && common[at] > 0 && nearer(score[at], j, s, best)) {
            s = score[at];
            best = j;
        }
    }
    ss[t] = s;
    sj[t] = best;
    __syncthreads();
    for (int half = 64; half > 0; half >>= 1) {
        if (t < half && nearer(ss[t + half], sj[t + half], ss[t], sj[t])) {
            ss[t] = ss[t + half];
            sj[t] = sj[t + half];
        }
        __syncthreads();
    }
    if (t == 0) nearest[i] = sj[0];
}

extern "C" void kinship(const int8_t* geno, int* common, int* apart, float* score, int* nearest, int n, int s)
{
    dim3 grid((n + SIDE - 1) / SIDE, (n + SIDE - 1) / SIDE), block(SIDE, SIDE);
    pairs_kernel<<<grid, block>>>(geno, common, apart, score, n, s);
    nearest_kernel<<<n, 128>>>(common, score, nearest, n);
}
