#include <cuda_runtime.h>
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/transform_iterator.h>
struct Square {
    __device__ float operator()(float v) const { return v * v; }
};
__global__ void divide(const float* x, const float* sum, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / sqrtf(*sum + 1e-6f);
}
extern "C" void unit(const float* x, float* y, int n) {
    auto squares = thrust::make_transform_iterator(x, Square());
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, squares, (float*)nullptr, n);
    char* room;
    cudaMallocAsync((void**)&room, bytes + 256, 0);
    float* sum = (float*)room;
    cub::DeviceReduce::Sum(room + 256, bytes, squares, sum, n);
    divide<<<(n + 255) / 256, 256>>>(x, sum, y, n);
    cudaFreeAsync(room, 0);
}
