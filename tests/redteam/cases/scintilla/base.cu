// Dead time of scintillation counters. Each row holds the hits of one counter as the time since the hit before. The first hit is
// registered; after a registered hit the counter is blind for dead[row], and the hits meanwhile do not prolong that.
// Gives which hits are registered, how many a row, and how the times between registered hits spread over 64 classes.
#include <cuda_runtime.h>

__global__ void keep(const unsigned* gap, const unsigned* dead, unsigned char* kept, int* count, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* g = gap + (size_t)row * n;
    unsigned char* k = kept + (size_t)row * n;
    unsigned long long since = 0, blind = dead[row];
    int many = 1;
    k[0] = 1;
    for (int i = 1; i < n; ++i) {
        since += g[i];
        bool yes = since >= blind;
        k[i] = yes;
        if (yes) {
            since = 0;
            ++many;
        }
    }
    count[row] = many;
}

__global__ void intervals(const unsigned* gap, const unsigned char* kept, unsigned long long* spread, int rows, int n) {
    __shared__ unsigned classes[64];
    if (threadIdx.x < 64) classes[threadIdx.x] = 0;
    __syncthreads();
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        const unsigned* g = gap + (size_t)row * n;
        const unsigned char* k = kept + (size_t)row * n;
        unsigned long long since = 0;
        for (int i = 1; i < n; ++i) {
            since += g[i];
            if (k[i]) {
                atomicAdd(&classes[since >> 17 < 63 ? (int)(since >> 17) : 63], 1u);
                since = 0;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < 64 && classes[threadIdx.x]) atomicAdd(&spread[threadIdx.x], (unsigned long long)classes[threadIdx.x]);
}

extern "C" void scintilla(const unsigned* gap, const unsigned* dead, unsigned char* kept, int* count, unsigned long long* spread,
                          int rows, int n) {
    cudaMemsetAsync(spread, 0, 64 * sizeof(unsigned long long));
    keep<<<(rows + 63) / 64, 64>>>(gap, dead, kept, count, rows, n);
    intervals<<<(rows + 63) / 64, 64>>>(gap, kept, spread, rows, n);
}
