// The form (x - m)' W (x - m) of each row x: a warp a row, eight rows of W at a time for all of the block.
__global__ void quadform(const float* x, const float* m, const float* w, float* y, int n, int d) {
    extern __shared__ float tile[];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int i = blockIdx.x * 8 + warp;
    const float* row = x + (size_t)min(i, n - 1) * d;
    float sum = 0.f;
    for (int p0 = 0; p0 < d; p0 += 8) {
        int rows = min(8, d - p0);
        __syncthreads();
        for (int e = threadIdx.x; e < rows * d; e += 256) tile[e] = w[(size_t)p0 * d + e];
        __syncthreads();
        for (int p = 0; p < rows; ++p) {
            float inner = 0.f;
            for (int q = lane; q < d; q += 32) inner += tile[p * d + q] * (row[q] - m[q]);
            sum += (row[p0 + p] - m[p0 + p]) * inner;
        }
    }
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0 && i < n) y[i] = sum;
}
