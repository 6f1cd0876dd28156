// A warp for a row: the signs of 32 elements are a word, whose neighbours are compared at once.
__global__ void crossings(const float* __restrict__ x, int* __restrict__ out, int rows, int cols) {
    int lane = threadIdx.x % 32, r = blockIdx.x * 8 + threadIdx.x / 32;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    unsigned before = 0;
    int s = 0;
    for (int c0 = 0; c0 < cols; c0 += 32) {
        unsigned word = __ballot_sync(0xffffffffu, c0 + lane < cols && row[c0 + lane] < 0.f);
        unsigned changed = word ^ (word << 1 | (c0 == 0 ? word & 1 : before));
        if (cols - c0 < 32) changed &= (1u << (cols - c0)) - 1;
        s += __popc(changed);
        before = word >> 31;
    }
    if (lane == 0) out[r] = s;
}
