// Which spans of time overlap, i * n + j for a pair of them, in any order, and how many do.
__global__ void overlaps(const int* start, const int* len, int* pair, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int from = start[i], to = from + len[i];
    for (int j = i + 1; j < n; ++j)
        if (start[j] < to && from < start[j] + len[j]) pair[atomicAdd(count, 1)] = i * n + j;
}
