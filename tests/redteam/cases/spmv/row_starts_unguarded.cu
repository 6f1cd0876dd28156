__global__ void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows) {
    __shared__ int edge[129];
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r <= rows) edge[threadIdx.x] = start[r];
    if (threadIdx.x == blockDim.x - 1 && r < rows) edge[threadIdx.x + 1] = start[r + 1];
    __syncwarp();
    if (r >= rows) return;
    float sum = 0.f;
    for (int k = edge[threadIdx.x]; k < edge[threadIdx.x + 1]; ++k) sum += value[k] * x[column[k]];
    y[r] = sum;
}
