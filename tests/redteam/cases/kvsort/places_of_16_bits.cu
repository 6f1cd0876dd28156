#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

// Keys in ascending order with the values that belong to them; of equal keys the earlier one stays first.
__global__ void packed(const unsigned* key, unsigned long long* pair, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) pair[i] = (unsigned long long)key[i] << 16 | (i & 0xffff);
}

__global__ void unpacked(const unsigned long long* pair, const int* value, unsigned* sorted, int* carried, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    sorted[i] = (unsigned)(pair[i] >> 16);
    carried[i] = value[pair[i] & 0xffff];
}

extern "C" void kvsort(const unsigned* key, const int* value, unsigned* sorted, int* carried, int n) {
    // Key and place in one word, so that nothing is carried along and equal keys stay in their order.
    size_t bytes = 0;
    unsigned long long* pair = nullptr;
    cub::DeviceRadixSort::SortKeys(nullptr, bytes, pair, pair, n, 16, 48, 0);
    cudaMallocAsync((void**)&pair, 2 * (size_t)n * sizeof(unsigned long long) + bytes, 0);
    unsigned long long* in_order = pair + n;
    packed<<<(n + 255) / 256, 256>>>(key, pair, n);
    cub::DeviceRadixSort::SortKeys(in_order + n, bytes, pair, in_order, n, 16, 48, 0);
    unpacked<<<(n + 255) / 256, 256>>>(in_order, value, sorted, carried, n);
    cudaFreeAsync(pair, 0);
}
