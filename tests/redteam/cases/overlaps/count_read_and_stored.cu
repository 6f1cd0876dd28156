// Which spans of time overlap, i * n + j for a pair of them, in any order, and how many do.
// What a block finds is kept until there is enough of it.
__global__ void overlaps(const int* start, const int* len, int* pair, int* count, int n) {
    __shared__ int found[512], many, at;
    int i = blockIdx.x;
    int from = start[i], to = from + len[i];
    if (threadIdx.x == 0) many = 0;
    __syncthreads();
    for (int j0 = i + 1; j0 < n; j0 += 256) {
        int j = j0 + threadIdx.x;
        if (j < n && start[j] < to && from < start[j] + len[j]) {
            int slot = atomicAdd(&many, 1);
            found[slot] = i * n + j;
        }
        __syncthreads();
        // There must be room for a round.
        if (many > 256 || j0 + 256 >= n) {
            int all = many;
            if (threadIdx.x == 0) at = *count, *count = at + all;
            __syncthreads();
            for (int e = threadIdx.x; e < all; e += 256) pair[at + e] = found[e];
            __syncthreads();
            if (threadIdx.x == 0) many = 0;
        }
        __syncthreads();
    }
}
