// The form (x - m)' W (x - m) of each row x: a warp a row, the matrix in shared memory for all of the block.
__global__ void quadform(const float* x, const float* m, const float* w, float* y, int n, int d) {
    extern __shared__ float tile[];
    for (int e = threadIdx.x; e < d * d; e += 256) tile[e] = w[e];
    __syncthreads();
    int lane = threadIdx.x % 32;
    for (int i = blockIdx.x * 8 + threadIdx.x / 32; i < n; i += gridDim.x * 8) {
        const float* row = x + (size_t)i * d;
        float sum = 0.f;
        for (int p = 0; p < d; ++p) {
            float inner = 0.f;
            for (int q = lane; q < d; q += 32) inner += tile[p * d + q] * (row[q] - m[q]);
            sum += (row[p] - m[p]) * inner;
        }
        for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
        if (lane == 0) y[i] = sum;
    }
}
