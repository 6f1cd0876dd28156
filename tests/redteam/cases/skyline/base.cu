// y = A x for a symmetric matrix in skyline storage: row i holds its diagonal and the reach[i] columns
// before it, value[i][k] in column i - k; its slots beyond that are not part of the matrix.
__device__ __forceinline__ int held(const int* reach, int row, int most) {
    return min(max(reach[row], 0), min(most, row));
}

__global__ void skyline(const float* value, const int* reach, const float* x, float* y, int n, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    size_t stride = most + 1;
    float sum = 0.0f;
    int own = held(reach, i, most);
    for (int k = 0; k <= own; ++k) sum += value[i * stride + k] * x[i - k];
    for (int d = 1; d <= most && i + d < n; ++d)
        if (d <= held(reach, i + d, most)) sum += value[(i + d) * stride + d] * x[i + d];
    y[i] = sum;
}
