// y = A x for a symmetric matrix in skyline storage: row i holds its diagonal and the reach[i] columns
// before it, value[i][k] in column i - k; its slots beyond that are not part of the matrix.
// Reaches of the block and of what lies behind it are held in shared memory, 512 at a time.
__device__ __forceinline__ int held(const int* reach, int row, int most) {
    return min(max(reach[row], 0), min(most, row));
}

#define HELD 512

__global__ void skyline(const float* value, const int* reach, const float* x, float* y, int n, int most) {
    __shared__ int held_by[HELD];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.x * blockDim.x;
    size_t stride = most + 1;
    float sum = 0.0f, other = 0.0f;
    if (i < n) {
        int own = held(reach, i, most);
        const float* row = value + i * stride;
        int k = 0;
        for (; k + 1 <= own; k += 2) {
            sum += row[k] * x[i - k];
            other += row[k + 1] * x[i - k - 1];
        }
        if (k <= own) sum += row[k] * x[i - k];
    }
    int behind = min(n - first, (int)blockDim.x + most);
    for (int base = 0; base < behind; base += HELD) {
        __syncthreads();
        for (int h = threadIdx.x; h < HELD && base + h < behind; h += blockDim.x) held_by[h] = held(reach, first + base + h, most);
        __syncthreads();
        int low = max(1, base - (int)threadIdx.x);
        int high = min(most, min(base + HELD, behind) - 1 - (int)threadIdx.x);
#pragma unroll 4
        for (int d = low; d <= high; ++d)
            if (d <= held_by[threadIdx.x + d - base]) other += value[(i + d) * stride + d] * x[i + d];
    }
    if (i < n) y[i] = sum + other;
}
