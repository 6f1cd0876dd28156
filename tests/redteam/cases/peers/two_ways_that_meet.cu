#include <cstdio>
#include <cuda_runtime.h>

__global__ void counted(const unsigned short* key, int* many, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(many + key[i], 1);
}

__global__ void told(const unsigned short* key, const int* many, int* rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) rows[i] = many[key[i]];
}

// For each row, how many rows have its key. Halves of the rows go two ways, which wait for each other where they have
// to: before anything is told, and before the caller's stream goes on.
extern "C" void peers(const unsigned short* key, int* rows, int n) {
    static cudaStream_t side = nullptr;
    static cudaEvent_t begun, here, there;
    static int* many = nullptr;
    if (!many) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&here, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&there, cudaEventDisableTiming);
        cudaMalloc(&many, 65536 * sizeof(int));
    }
    int half = n / 2, rest = n - half;
    cudaMemsetAsync(many, 0, 65536 * sizeof(int), 0);
    cudaEventRecord(begun, 0);
    cudaStreamWaitEvent(side, begun, 0);
    counted<<<half / 256 + 1, 256>>>(key, many, half);
    counted<<<rest / 256 + 1, 256, 0, side>>>(key + half, many, rest);
    cudaEventRecord(here, 0);
    cudaEventRecord(there, side);
    cudaStreamWaitEvent(0, there, 0);
    cudaStreamWaitEvent(side, here, 0);
    told<<<half / 256 + 1, 256>>>(key, many, rows, half);
    told<<<rest / 256 + 1, 256, 0, side>>>(key + half, many, rows + half, rest);
    cudaEventRecord(there, side);
    cudaStreamWaitEvent(0, there, 0);
}
