// Which spans of time overlap, i * n + j for a pair of them, in any order, and how many do.
__global__ void overlaps(const int* start, const int* len, int* pair, int* count, int n) {
    // A warp looks at 32 spans beside one another; one lane makes room for all that it finds.
    int i = blockIdx.x, lane = threadIdx.x % 32;
    int from = start[i], to = from + len[i];
    for (int j0 = i + 1 + (int)(threadIdx.x - lane); j0 < n; j0 += blockDim.x) {
        int j = j0 + lane;
        bool hit = j < n && start[j] < to && from < start[j] + len[j];
        unsigned all = __ballot_sync(~0u, hit);
        if (!all) continue;
        int at = 0;
        if (lane == 0) at = atomicAdd(count, __popc(all));
        at = __shfl_sync(~0u, at, 0);
        if (hit) pair[at + __popc(all & ((1u << lane) - 1))] = i * n + j;
    }
}
