#include <cuda_fp16.h>

// The cosine between each row of a and the same row of b.
__global__ void cosine(const __half* a, const __half* b, float* out, int rows, int cols, float eps) {
    __shared__ float part[3][128];
    int t = threadIdx.x;
    const __half *p = a + (size_t)blockIdx.x * cols, *q = b + (size_t)blockIdx.x * cols;
    float ab = 0.f, aa = 0.f, bb = 0.f;
    for (int c = t; c < cols; c += 128) {
        float x = __half2float(p[c]), y = __half2float(q[c]);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    part[0][t] = ab, part[1][t] = aa, part[2][t] = bb;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s)
            for (int k = 0; k < 3; ++k) part[k][t] += part[k][t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0][0] / (sqrtf(part[1][0]) * sqrtf(part[2][0]));
}
