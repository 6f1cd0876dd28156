// One addition of a warp for each of its keys. Lanes with nothing to add stay with the others.
__global__ void tally(const int* __restrict__ key, const int* __restrict__ value,
                      int* __restrict__ sum, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = i < n ? key[i] : -1, v = i < n ? value[i] : 0;
    if (k >= bins || k < 0) k = -1;
    unsigned peers = __match_any_sync(0xffffffffu, k);
    int all = __reduce_add_sync(peers, v);
    if (k >= 0 && __ffs(peers) - 1 == (threadIdx.x & 31)) atomicAdd(&sum[k], all);
}
