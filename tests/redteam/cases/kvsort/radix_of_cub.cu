#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

// Keys in ascending order with the values that belong to them; of equal keys the earlier one stays first.
extern "C" void kvsort(const unsigned* key, const int* value, unsigned* sorted, int* carried, int n) {
    size_t bytes = 0;
    cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, sorted, value, carried, n, 0, 32, 0);
    void* room;
    cudaMallocAsync(&room, bytes, 0);
    cub::DeviceRadixSort::SortPairs(room, bytes, key, sorted, value, carried, n, 0, 32, 0);
    cudaFreeAsync(room, 0);
}
