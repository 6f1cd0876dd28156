// The best place of a motif, by a warp for a sequence. Its weights, at most 24 times four, are near at hand.
__global__ void motifs(const unsigned char* letter, const int* weight, int* best, int* place, int n, int length,
                       int width) {
    __shared__ int near[24 * 4];
    int s = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int e = threadIdx.x; e < min(4 * width, 96); e += 256) near[e] = weight[e];
    __syncthreads();
    if (s >= n) return;
    const unsigned char* x = letter + (size_t)s * length;
    int top = -2147483647 - 1, at = 2147483647, known = min(width, 24);
    for (int i = lane; i + width <= length; i += 32) {
        int sum = 0;
        for (int j = 0; j < known; ++j) sum += near[4 * j + x[i + j]];
        if (at == 2147483647 || sum > top) {
            top = sum;
            at = i;
        }
    }
    for (int w = 16; w > 0; w /= 2) {
        int its = __shfl_xor_sync(~0u, top, w), there = __shfl_xor_sync(~0u, at, w);
        if (its > top || (its == top && there < at)) {
            top = its;
            at = there;
        }
    }
    if (lane > 0) return;
    best[s] = top;
    place[s] = at == 2147483647 ? -1 : at;
}
