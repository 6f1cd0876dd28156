#include <cuda_runtime.h>
#define PLACES 2000
#define NEVER 0x3fffffff

// How far every place is from the first one, by rounds over all roads until none shortens a way.
__global__ void begin(int* far) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PLACES) far[i] = i == 0 ? 0 : NEVER;
}

__global__ void relax(const int* from, const int* to, const int* length, int* far, int* changed,
                      int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int here = atomicAdd(&far[from[i]], 0);
    if (here == NEVER) return;
    int way = here + length[i];
    if (atomicMin(&far[to[i]], way) > way) atomicExch(changed, 1);
}

extern "C" void shortest(const int* from, const int* to, const int* length, int* far, int m) {
    int *changed, again = 1;
    cudaMalloc(&changed, sizeof(int));
    begin<<<(PLACES + 255) / 256, 256>>>(far);
    while (again) {
        cudaMemset(changed, 0, sizeof(int));
        relax<<<(m + 255) / 256, 256>>>(from, to, length, far, changed, m);
        cudaMemcpy(&again, changed, sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaFree(changed);
}
