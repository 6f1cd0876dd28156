// Where a place has no value it is given the last one before it in its row, or zero.
__global__ void lastseen(const float* x, const unsigned char* there, float* y, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    float before = 0.f;
    for (int b = 0; b < cols; b += 32) {
        int c = b + lane;
        size_t i = (size_t)r * cols + c;
        bool mine = c < cols && there[i];
        float v = mine ? x[i] : 0.f;
        // Those at or before this lane that have a value; the nearest gives it.
        unsigned upto = __ballot_sync(~0u, mine) & (~0u >> (31 - lane));
        float nearest = __shfl_sync(~0u, v, upto ? 31 - __clz(upto) : lane);
        float last = upto ? nearest : before;
        if (c < cols) y[i] = last;
        before = __shfl_sync(~0u, last, 31);
    }
}
