// How many reads cover each place of a genome, added to what there is. A block has 512 places; it looks at all reads,
// notes where they begin and end in there, and sums that up.
__global__ void pileup(const int* start, const int* len, int* depth, int n, int g) {
    __shared__ int change[512], before[16];
    int t = threadIdx.x, lane = t % 32;
    long long low = blockIdx.x * 512ll;
    change[t] = 0;
    __syncthreads();
    for (long long i = t; i < n; i += 512) {
        long long begin = max(start[i] - low, 0ll), end = min((long long)min(start[i] + len[i], g) - low, 512ll);
        if (begin >= end) continue;
        atomicAdd(&change[begin], 1);
        if (end < 512) atomicAdd(&change[end], -1);
    }
    __syncthreads();
    int v = change[t];
    for (int w = 1; w < 32; w *= 2) {
        int other = __shfl_up_sync(0xffffffffu, v, w);
        if (lane >= w) v += other;
    }
    if (lane == 31) before[t / 32] = v;
    __syncthreads();
    for (int k = 0; k < t / 32; ++k) v += before[k];
    if (low + t < g && v) depth[low + t] += v;
}
