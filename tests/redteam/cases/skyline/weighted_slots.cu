// y = A x for a symmetric matrix in skyline storage: row i holds its diagonal and the reach[i] columns
// before it, value[i][k] in column i - k; its slots beyond that are not part of the matrix.
// No branches: a slot that is not held weighs nothing, and loads of all lanes go out together.
__device__ __forceinline__ int held(const int* reach, int row, int most) {
    return min(max(reach[row], 0), min(most, row));
}

__global__ void skyline(const float* value, const int* reach, const float* x, float* y, int n, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    size_t stride = most + 1;
    float sum = 0.0f, other = 0.0f;
    int own = held(reach, i, most);
    int before = min(most, i), behind = min(most, n - 1 - i);
#pragma unroll 4
    for (int k = 0; k <= before; ++k) sum += (k <= own ? value[i * stride + k] : 0.0f) * x[i - k];
#pragma unroll 4
    for (int d = 1; d <= behind; ++d) {
        float weight = (float)(d <= held(reach, i + d, most));
        other += weight * value[(i + d) * stride + d] * x[i + d];
    }
    y[i] = sum + other;
}
