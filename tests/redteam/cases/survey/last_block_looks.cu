#include <cuda_runtime.h>

__device__ unsigned done;

// How often there is each byte; sixteen at a time where they lie so, and with a table for each two warps.
// The block that is done last looks for the favourite.
__global__ void tally(const unsigned char* data, unsigned* many, int* most, size_t n) {
    __shared__ unsigned own[4][256];
    for (int k = 0; k < 4; ++k) own[k][threadIdx.x] = 0;
    __syncthreads();
    unsigned* at = own[threadIdx.x / 64];
    size_t whole = (size_t)data % 16 == 0 ? n / 16 : 0, first = blockIdx.x * (size_t)256 + threadIdx.x;
    for (size_t i = first; i < whole; i += gridDim.x * (size_t)256) {
        uint4 v = ((const uint4*)data)[i];
        unsigned word[4] = {v.x, v.y, v.z, v.w};
        for (int k = 0; k < 16; ++k) atomicAdd(&at[word[k / 4] >> k % 4 * 8 & 255], 1u);
    }
    for (size_t i = 16 * whole + first; i < n; i += gridDim.x * (size_t)256) atomicAdd(&at[data[i]], 1u);
    __syncthreads();
    unsigned sum = own[0][threadIdx.x] + own[1][threadIdx.x] + own[2][threadIdx.x] + own[3][threadIdx.x];
    if (sum) atomicAdd(&many[threadIdx.x], sum);
    __shared__ bool last;
    __shared__ unsigned long long top[8];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    // More is more, and a smaller byte is as good as one more half.
    unsigned long long key = (unsigned long long)__ldcg(&many[threadIdx.x]) << 8 | (255 - threadIdx.x);
    for (int w = 16; w; w /= 2) key = max(key, __shfl_xor_sync(0xffffffffu, key, w));
    if (threadIdx.x % 32 == 0) top[threadIdx.x / 32] = key;
    __syncthreads();
    if (threadIdx.x) return;
    for (int k = 1; k < 8; ++k) key = max(key, top[k]);
    *most = 255 - (int)(key & 255);
}

// How often there is each byte in what is given, and which there is most often.
extern "C" void survey(const unsigned char* data, unsigned* many, int* most, int n) {
    cudaMemsetAsync(many, 0, 256 * sizeof(unsigned), 0);
    tally<<<min((n - 1) / 4096 + 1, 528), 256>>>(data, many, most, n);
}
