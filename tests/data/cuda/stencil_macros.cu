/* Rodinia-like style: macros for everything, block sizes by #define, dynamic shared memory. */
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_X 32
#define BLOCK_Y 8
#ifndef RADIUS
#define RADIUS 2
#endif
#define IDX(i, j, w) ((i) * (w) + (j))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define IN_RANGE(x, lo, hi) ((x) >= (lo) && (x) <= (hi))
#define DIVUP(a, b) (((a) + (b) - 1) / (b))
#define FULL_WIDTH (2 * RADIUS + 1)
#define GLOBAL __global__ void
#define RESTRICT __restrict__

__constant__ float weights[FULL_WIDTH * FULL_WIDTH];

GLOBAL stencil(const float *RESTRICT in, float *RESTRICT out, int w, int h)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (!IN_RANGE(x, 0, w - 1) || y >= h)
        return;
    float sum = 0.0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int yy = y + dy < 0 ? 0 : MIN(y + dy, h - 1);
            int xx = x + dx < 0 ? 0 : MIN(x + dx, w - 1);
            sum += weights[(dy + RADIUS) * FULL_WIDTH + dx + RADIUS] * in[IDX(yy, xx, w)];
        }
    out[IDX(y, x, w)] = sum;
}

__global__ void row_sum(const float* in, float* sums, int w)
{
    extern __shared__ float cache[];
    unsigned int t = threadIdx.x;
    float v = 0;
    for (int j = t; j < w; j += blockDim.x) v += in[blockIdx.x * w + j];
    cache[t] = v;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) cache[t] += cache[t + s];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = cache[0];
}

int main(int argc, char **argv)
{
    int w = 640, h = 479, threads = 128;
    float *in, *out, *sums;
    if (argc > 2) { w = atoi(argv[1]); h = atoi(argv[2]); }
    cudaMallocManaged(&in, w * h * sizeof(float));
    cudaMallocManaged(&out, w * h * sizeof(float));
    cudaMallocManaged(&sums, h * sizeof(float));
    for (int i = 0; i < w * h; i++) in[i] = (i * 7919) % 101;
    float host[FULL_WIDTH * FULL_WIDTH];
    for (int i = 0; i < FULL_WIDTH * FULL_WIDTH; i++) host[i] = 1.0f / (FULL_WIDTH * FULL_WIDTH);
    cudaMemcpyToSymbol(weights, host, sizeof(host));
    dim3 dimBlock(BLOCK_X, BLOCK_Y, 1);
    dim3 dimGrid(DIVUP(w, BLOCK_X), DIVUP(h, BLOCK_Y), 1);
    stencil<<<dimGrid, dimBlock>>>(in, out, w, h);
    row_sum<<<h, threads, threads * sizeof(float)>>>(out, sums, w);
    cudaDeviceSynchronize();
    printf("%f\n", sums[0]);
    return 0;
}
