// Where a place has no value it is given the last one before it in its row, or zero.
__global__ void lastseen(const float* x, const unsigned char* there, float* y, int rows, int cols) {
    // What each warp found last, and whether it found any.
    __shared__ float last_of[8];
    __shared__ int any_of[8];
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    float before = 0.f;
    for (int b = 0; b < cols; b += 256) {
        int c = b + threadIdx.x;
        size_t i = (size_t)blockIdx.x * cols + c;
        bool mine = c < cols && there[i];
        float v = mine ? x[i] : 0.f;
        unsigned all = __ballot_sync(~0u, mine), upto = all & (~0u >> (31 - lane));
        v = __shfl_sync(~0u, v, upto ? 31 - __clz(upto) : lane);
        if (lane == 31) {
            last_of[warp] = v;
            any_of[warp] = all != 0;
        }
        __syncthreads();
        if (!upto) {
            v = before;
            if (warp > 0 && any_of[warp - 1]) v = last_of[warp - 1];
        }
        if (c < cols) y[i] = v;
        for (int k = 0; k < 8; ++k)
            if (any_of[k]) before = last_of[k];
        __syncthreads();
    }
}
