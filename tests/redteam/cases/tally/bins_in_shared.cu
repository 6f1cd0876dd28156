#define ROOM 4096

// Bins of a block in shared memory where they fit; otherwise as before.
__global__ void tally(const int* __restrict__ key, const int* __restrict__ value,
                      int* __restrict__ sum, int n, int bins) {
    __shared__ int local[ROOM];
    bool fits = bins <= ROOM;
    if (fits)
        for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
    __syncthreads();
    int* to = fits ? local : sum;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        int k = key[i];
        if ((unsigned)k < (unsigned)bins) atomicAdd(&to[k], value[i]);
    }
    __syncthreads();
    if (fits)
        for (int b = threadIdx.x; b < bins; b += blockDim.x)
            if (local[b] != 0) atomicAdd(&sum[b], local[b]);
}
