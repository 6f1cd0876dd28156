__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(0xffffu, i < n);
    if (i >= n) return;
    unsigned same = __match_any_sync(active, (unsigned)x[i]);
    if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&bins[x[i]], (unsigned)__popc(same));
}
