// Where a place has no value it is given the last one before it in its row, or zero.
__global__ void lastseen(const float* x, const unsigned char* there, float* y, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    float before = 0.f;
    for (int b = 0; b < cols; b += 32) {
        int c = b + lane;
        size_t i = (size_t)r * cols + c;
        float last = c < cols && there[i] ? x[i] : 0.f;
        // Twice as far at each step; who has none yet takes what is there.
        for (int d = 1; d < 32; d *= 2) {
            float left = __shfl_up_sync(~0u, last, d);
            if (lane >= d && last == 0.f) last = left;
        }
        if (last == 0.f) last = before;
        if (c < cols) y[i] = last;
        before = __shfl_sync(~0u, last, 31);
    }
}
