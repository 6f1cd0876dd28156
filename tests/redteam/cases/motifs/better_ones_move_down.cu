// The best place of a motif, by a warp for a sequence. What two letters weigh together is added up before, for the first
// 256 places of the motif.
__global__ void motifs(const unsigned char* letter, const int* weight, int* best, int* place, int n, int length,
                       int width) {
    __shared__ int two[128][16];
    int twos = min(128, width / 2), s = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int e = threadIdx.x; e < twos * 16; e += 256)
        two[e / 16][e % 16] = weight[8 * (e / 16) + e % 4] + weight[8 * (e / 16) + 4 + e % 16 / 4];
    __syncthreads();
    if (s >= n) return;
    const unsigned char* x = letter + (size_t)s * length;
    int top = -2147483647 - 1, at = -1;
    for (int i = lane; i + width <= length; i += 32) {
        int sum = 0;
        for (int j = 0; j < twos; ++j) sum += two[j][x[i + 2 * j] + 4 * x[i + 2 * j + 1]];
        for (int j = 2 * twos; j < width; ++j) sum += weight[4 * j + x[i + j]];
        if (at < 0 || sum > top) {
            top = sum;
            at = i;
        }
    }
    for (int w = 16; w > 0; w /= 2) {
        int its = __shfl_down_sync(~0u, top, w), there = __shfl_down_sync(~0u, at, w);
        if (its > top) {
            top = its;
            at = there;
        }
    }
    if (lane > 0) return;
    best[s] = top;
    place[s] = at;
}
