__global__ void scan(const int* x, int* y, int rows, int cols) {
    __shared__ int sums[32];
    __shared__ int before;
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, r = blockIdx.x;
    if (threadIdx.x == 0) before = 0;
    for (int c0 = 0; c0 < cols; c0 += blockDim.x) {
        int c = c0 + threadIdx.x, v = c < cols ? x[r * cols + c] : 0;
        for (int w = 1; w < 32; w *= 2) {
            int u = __shfl_up_sync(0xffffffffu, v, w);
            if (lane >= w) v += u;
        }
        if (lane == 31) sums[warp] = v;
        __syncthreads();
        if (warp == 0) {
            int t = lane < blockDim.x / 32 ? sums[lane] : 0;
            for (int w = 1; w < 32; w *= 2) {
                int u = __shfl_up_sync(0xffffffffu, t, w);
                if (lane >= w) t += u;
            }
            sums[lane] = t;
        }
        __syncthreads();
        v += before + (warp ? sums[warp - 1] : 0);
        if (c < cols) y[r * cols + c] = v;
        if (threadIdx.x == 0) before += sums[blockDim.x / 32 - 1];
        __syncthreads();
    }
}
