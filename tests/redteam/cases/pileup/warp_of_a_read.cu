// How many reads cover each place of a genome, added to what there is. A warp takes 32 reads, and its lanes together go
// over each: neighbours add to neighbours.
__global__ void pileup(const int* start, const int* len, int* depth, int n, int g) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, begin = 0, end = 0;
    if (i < n) {
        begin = start[i];
        end = min(begin + len[i], g);
    }
    for (int k = 0; k < 32; ++k) {
        int b = __shfl_sync(0xffffffffu, begin, k), e = __shfl_sync(0xffffffffu, end, k);
        for (long long p = (long long)b + lane; p < e; p += 32) atomicAdd(&depth[p], 1);
    }
}
