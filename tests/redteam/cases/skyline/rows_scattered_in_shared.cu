// y = A x for a symmetric matrix in skyline storage: row i holds its diagonal and the reach[i] columns
// before it, value[i][k] in column i - k; its slots beyond that are not part of the matrix.
// A warp to a row, read once in whole lines: it is gathered for its own place and scattered for those before
// it, in shared memory. The rows behind the block's own which reach into it are read as well.
__device__ __forceinline__ int held(const int* reach, int row, int most) {
    return min(max(reach[row], 0), min(most, row));
}

#define ROWS 256

__global__ void skyline(const float* value, const int* reach, const float* x, float* y, int n, int most) {
    __shared__ float sum[ROWS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int first = blockIdx.x * ROWS;
    for (int i = threadIdx.x; i < ROWS; i += blockDim.x) sum[i] = 0.0f;
    __syncthreads();
    size_t stride = most + 1;
    int end = min(n, first + ROWS + most);
    for (int j = first + warp; j < end; j += warps) {
        int own = held(reach, j, most);
        float xj = x[j], total = 0.0f;
        for (int k = max(0, j - (first + ROWS - 1)) + lane; k <= own; k += 32) {
            float v = value[j * stride + k];
            total += v * x[j - k];
            if (k > 0 && j - k >= first) atomicAdd(&sum[j - k - first], v * xj);
        }
        if (j < first + ROWS) {
            for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
            if (lane == 0) atomicAdd(&sum[j - first], total);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < ROWS && first + i < n; i += blockDim.x) y[first + i] = sum[i];
}
