#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

// Keys in ascending order with the values that belong to them; of equal keys the earlier one stays first.
extern "C" void kvsort(const unsigned* key, const int* value, unsigned* sorted, int* carried, int n) {
    // The room is kept for the next call and grows when it has to.
    static void* room;
    static size_t held;
    size_t bytes = 0;
    cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, sorted, value, carried, n, 0, 32, 0);
    if (bytes > held) {
        cudaFree(room);
        room = nullptr;
        held = 0;
        if (cudaMalloc(&room, bytes) != cudaSuccess) return;
        held = bytes;
    }
    cub::DeviceRadixSort::SortPairs(room, bytes, key, sorted, value, carried, n, 0, 32, 0);
}
