// How many equal values in a row end at each place.
__global__ void streak(const unsigned char* x, int* out, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const unsigned char* from = x + (size_t)r * cols;
    int* to = out + (size_t)r * cols;
    int carry = 0, before = -1;
    for (int first = 0; first < cols; first += 32) {
        int c = first + lane;
        int v = c < cols ? from[c] : -2;
        int left = __shfl_up_sync(0xffffffffu, v, 1);
        // Changes inside of these 32; whether they go on from those before is seen from the first.
        unsigned changes = __ballot_sync(0xffffffffu, lane > 0 && v != left);
        int start = __shfl_sync(0xffffffffu, v, 0) == before ? -carry : 0;
        unsigned here = changes & (0xffffffffu >> (31 - lane));
        if (c < cols) to[c] = lane + 1 - (here ? 31 - __clz(here) : start);
        // Without a change all 32 are added.
        carry = changes ? __clz(changes) + 1 : carry + 32;
        before = __shfl_sync(0xffffffffu, v, 31);
    }
}
