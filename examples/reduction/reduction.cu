// Sum of a float array: every block reduces its slice in shared memory and adds the partial
// sum to the result.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                          \
    do {                                                                          \
        cudaError_t err = (call);                                                 \
        if (err != cudaSuccess) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                    \
                    cudaGetErrorString(err));                                     \
            exit(EXIT_FAILURE);                                                   \
        }                                                                         \
    } while (0)

#define BLOCK_SIZE 256

__global__ void sum_kernel(const float *in, float *out, int n)
{
    __shared__ float sdata[BLOCK_SIZE];

    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    sdata[tid] = (i < n) ? in[i] : 0.0f;
    __syncthreads();

    // tree reduction in shared memory
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0) {
        atomicAdd(out, sdata[0]);
    }
}

// `in` and `out` are device pointers; `out` receives one float.
void sum(const float *in, float *out, int n)
{
    CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(float)));
    int blocks = (n + BLOCK_SIZE - 1) / BLOCK_SIZE;
    sum_kernel<<<blocks, BLOCK_SIZE>>>(in, out, n);
    CUDA_CHECK(cudaGetLastError());
}
