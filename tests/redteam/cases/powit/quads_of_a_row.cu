#include <cuda_runtime.h>

// A warp a row, four numbers a lane.
__global__ void times(const float* a, const float* v, float* to, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    const float* row = a + (size_t)i * n;
    float sum = 0.f;
    for (int k = lane * 4; k + 3 < n; k += 128) {
        float4 p = *(const float4*)(row + k), q = *(const float4*)(v + k);
        sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
    if (lane < n % 4) sum += row[n / 4 * 4 + lane] * v[n / 4 * 4 + lane];
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) to[i] = sum;
}

__global__ void length(const float* v, float* square, int n) {
    __shared__ float part[256];
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += 256) sum += v[i] * v[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int w = 128; w; w /= 2) {
        if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) *square = part[0];
}

__global__ void divide(const float* from, const float* square, float* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] / sqrtf(*square + 1e-20f);
}

// The power method: the direction of x after so many steps.
extern "C" void powit(const float* a, const float* x, float* out, int n, int steps) {
    float *v, *square;
    cudaMalloc(&v, n * sizeof(float));
    cudaMalloc(&square, sizeof(float));
    for (int s = 0; s < steps; ++s) {
        times<<<(n + 7) / 8, 256>>>(a, s ? out : x, v, n);
        length<<<1, 256>>>(v, square, n);
        divide<<<(n + 255) / 256, 256>>>(v, square, out, n);
    }
    cudaFree(v);
    cudaFree(square);
}
