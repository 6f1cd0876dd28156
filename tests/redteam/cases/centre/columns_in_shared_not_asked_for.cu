#include <cuda_runtime.h>

// Columns less their means.
__global__ void means(const float* x, float* mean, int rows, int cols) {
    __shared__ float part[8][32];
    int c = blockIdx.x * 32 + threadIdx.x;
    float s = 0.f;
    if (c < cols)
        for (int r = threadIdx.y; r < rows; r += 8) s += x[(size_t)r * cols + c];
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.y || c >= cols) return;
    for (int k = 1; k < 8; ++k) s += part[k][threadIdx.x];
    mean[c] = s / rows;
}

__global__ void subtract(const float* x, const float* mean, float* y, int rows, int cols) {
    size_t many = (size_t)rows * cols, step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < many; i += step)
        y[i] = x[i] - mean[i % cols];
}


// The same with the columns of a block in shared memory, so that they are read once.
__global__ void held(const float* x, float* y, int rows, int cols) {
    extern __shared__ float tile[];
    __shared__ float part[8][32];
    int c = blockIdx.x * 32 + threadIdx.x;
    float s = 0.f;
    for (int r = threadIdx.y; r < rows && c < cols; r += 8) {
        float v = x[(size_t)r * cols + c];
        tile[r * 32 + threadIdx.x] = v;
        s += v;
    }
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    if (c >= cols) return;
    s = 0.f;
    for (int k = 0; k < 8; ++k) s += part[k][threadIdx.x];
    s /= rows;
    for (int r = threadIdx.y; r < rows; r += 8) y[(size_t)r * cols + c] = tile[r * 32 + threadIdx.x] - s;
}

extern "C" void centre(const float* x, float* y, int rows, int cols) {
    if (rows <= 1600) {
        int bytes = rows * 32 * sizeof(float);
        held<<<(cols + 31) / 32, dim3(32, 8), bytes>>>(x, y, rows, cols);
        return;
    }
    float* mean;
    cudaMalloc(&mean, cols * sizeof(float));
    means<<<(cols + 31) / 32, dim3(32, 8)>>>(x, mean, rows, cols);
    subtract<<<1056, 256>>>(x, mean, y, rows, cols);
    cudaFree(mean);
}
