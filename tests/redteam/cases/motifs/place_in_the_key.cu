// The best place of a motif, by a warp for a sequence. A key has the sum above and the place below, from the last to the
// first: the largest key is the first of the best.
__global__ void motifs(const unsigned char* letter, const int* weight, int* best, int* place, int n, int length,
                       int width) {
    int s = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (s >= n) return;
    const unsigned char* x = letter + (size_t)s * length;
    const long long none = -9223372036854775807ll - 1;
    long long top = none;
    for (int i = lane; i + width <= length; i += 32) {
        int sum = 0;
        for (int j = 0; j < width; ++j) sum += weight[4 * j + x[i + j]];
        top = max(top, sum * 4294967296ll + (2147483647 - i));
    }
    for (int w = 16; w > 0; w /= 2) top = max(top, __shfl_xor_sync(~0u, top, w));
    if (lane > 0) return;
    best[s] = (int)(top >> 32);
    place[s] = top == none ? -1 : 2147483647 - (int)(top & 0xffffffffll);
}
