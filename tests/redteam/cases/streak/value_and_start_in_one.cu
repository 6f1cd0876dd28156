// How many equal values in a row end at each place.
__global__ void streak(const unsigned char* x, int* out, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const unsigned char* from = x + (size_t)r * cols;
    int* to = out + (size_t)r * cols;
    // Where the run before began, and below it its value: one shuffle hands over both.
    unsigned last = 0x100u;
    for (int first = 0; first < cols; first += 32) {
        int c = first + lane;
        unsigned v = c < cols ? from[c] : 0x200u;
        unsigned left = __shfl_up_sync(0xffffffffu, v, 1);
        if (lane == 0) left = last & 0xffffu;
        unsigned changes = __ballot_sync(0xffffffffu, v != left);
        unsigned here = changes & (0xffffffffu >> (31 - lane));
        unsigned start = here ? first + 31 - __clz(here) : last >> 16;
        if (c < cols) to[c] = c - start + 1;
        last = __shfl_sync(0xffffffffu, start << 16 | v, 31);
    }
}
