// Jacobi sweeps of a heated plate with pinned cells, and the largest change of the last sweep.
#include <cuda_runtime.h>

__global__ void sweep(const float* __restrict__ from, float* __restrict__ to, const float* __restrict__ heat,
                      const unsigned char* __restrict__ pin, int h, int w, float* change) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t i = (size_t)y * w + x;
    float c = from[i];
    if (pin[i] == 0) {
        to[i] = c;
        return;
    }
    float up = y > 0 ? from[i - w] : c;
    float down = y < h - 1 ? from[i + w] : c;
    float left = x > 0 ? from[i - 1] : c;
    float right = x < w - 1 ? from[i + 1] : c;
    float v = 0.25f * (((up + down) + (left + right)) + heat[i]);
    to[i] = v;
    // A NaN has larger bits than any number and is reported.
    if (change) atomicMax((int*)change, __float_as_int(fabsf(v - c)));
}

extern "C" void plate(const float* start, const unsigned char* pin, const float* heat, float* u, float* change,
                      int h, int w, int sweeps) {
    size_t bytes = (size_t)h * w * sizeof(float);
    if (bytes == 0) return;
    float* spare;
    cudaMalloc(&spare, bytes);
    cudaMemsetAsync(change, 0, sizeof(float), 0);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    // Two sweeps to a turn: there and back, no pointer arithmetic.
    const float* from = start;
    const int turns = sweeps / 2;
    for (int k = 0; k < turns; ++k) {
        sweep<<<grid, block>>>(from, spare, heat, pin, h, w, nullptr);
        sweep<<<grid, block>>>(spare, u, heat, pin, h, w, k == turns - 1 ? change : nullptr);
        from = u;
    }
    if (sweeps == 1) sweep<<<grid, block>>>(start, u, heat, pin, h, w, change);
    if (sweeps <= 0) cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, 0);
    cudaFree(spare);
}
