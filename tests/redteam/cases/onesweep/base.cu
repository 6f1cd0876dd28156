// Where each digit begins in each of four passes of a radix sort: digits have eight bits, the lowest ones first.
__global__ void onesweep(const unsigned* key, int* start, int n) {
    __shared__ int count[256];
    int pass = blockIdx.x;
    for (int v = threadIdx.x; v < 256; v += blockDim.x) count[v] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&count[key[i] >> 8 * pass & 255], 1);
    __syncthreads();
    if (threadIdx.x == 0)
        for (int v = 0, sum = 0; v < 256; ++v) {
            start[pass * 256 + v] = sum;
            sum += count[v];
        }
}
