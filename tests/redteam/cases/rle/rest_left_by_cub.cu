#include <cub/device/device_run_length_encode.cuh>
#include <cuda_runtime.h>

// Runs of equal bytes: what each run is of and how long it is, in their order, and how many there are. What
// is behind the last run is zero.
extern "C" void rle(const unsigned char* x, unsigned char* value, int* length, int* count, int n) {
    size_t bytes = 0;
    cub::DeviceRunLengthEncode::Encode(nullptr, bytes, x, value, length, count, n, 0);
    void* room;
    cudaMallocAsync(&room, bytes, 0);
    cub::DeviceRunLengthEncode::Encode(room, bytes, x, value, length, count, n, 0);
    cudaFreeAsync(room, 0);
}
