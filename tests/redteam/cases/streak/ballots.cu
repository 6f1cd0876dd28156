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
        if (lane == 0) left = before;
        unsigned changes = __ballot_sync(0xffffffffu, v != left);
        unsigned here = changes & (0xffffffffu >> (31 - lane));
        int length = here ? lane - (31 - __clz(here)) + 1 : lane + 1 + carry;
        if (c < cols) to[c] = length;
        carry = __shfl_sync(0xffffffffu, length, 31);
        before = __shfl_sync(0xffffffffu, v, 31);
    }
}
