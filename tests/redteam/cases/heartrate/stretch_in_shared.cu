#include <cuda_runtime.h>

// Sums of beats, of their squares, and of the squares of what a beat differs by from the one in front of it. A block
// has its whole stretch in shared memory, with the beat in front of it.
__global__ void beats(const float* rr, double* sum, int n, int stretch) {
    extern __shared__ float own[];
    __shared__ double part[3][8];
    size_t first = blockIdx.x * (size_t)stretch;
    int many = first < n ? (int)min((size_t)stretch, n - first) : 0;
    for (int i = threadIdx.x; i < many; i += 256) own[i + 1] = rr[first + i];
    if (threadIdx.x == 0 && many) own[0] = first ? rr[first - 1] : 0.f;
    __syncthreads();
    double s[3] = {};
    for (int i = threadIdx.x; i < many; i += 256) {
        double v = own[i + 1], d = first + i ? v - own[i] : 0.;
        s[0] += v, s[1] += v * v, s[2] += d * d;
    }
    for (int k = 0; k < 3; ++k) {
        for (int w = 16; w; w /= 2) s[k] += __shfl_down_sync(0xffffffffu, s[k], w);
        if (threadIdx.x % 32 == 0) part[k][threadIdx.x / 32] = s[k];
    }
    __syncthreads();
    if (threadIdx.x >= 3) return;
    double all = 0.;
    for (int w = 0; w < 8; ++w) all += part[threadIdx.x][w];
    atomicAdd(&sum[threadIdx.x], all);
}

// The mean beat, the mean square of beats, and the root of the mean square of what they differ by.
__global__ void rates(const double* sum, double* rate, int n) {
    rate[0] = sum[0] / n;
    rate[1] = sum[1] / n;
    rate[2] = n > 1 ? sqrt(sum[2] / (n - 1)) : 0.;
}

// How steadily a heart beats, by the times between beats.
extern "C" void heartrate(const float* rr, double* rate, int n) {
    double* sum;
    int stretch = (n - 1) / 264 + 1;
    cudaMalloc(&sum, 3 * sizeof(double));
    cudaMemsetAsync(sum, 0, 3 * sizeof(double), 0);
    beats<<<264, 256, (stretch + 1) * sizeof(float)>>>(rr, sum, n, stretch);
    rates<<<1, 1>>>(sum, rate, n);
    cudaFree(sum);
}
