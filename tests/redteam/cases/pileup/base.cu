// How many reads cover each place of a genome, added to what there is; reads may go over its end, or begin behind it.
__global__ void pileup(const int* start, const int* len, int* depth, int n, int g) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int end = min(start[i] + len[i], g);
    for (int p = start[i]; p < end; ++p) atomicAdd(&depth[p], 1);
}
