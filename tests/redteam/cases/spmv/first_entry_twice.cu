__global__ void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = value[start[r]] * x[column[start[r]]];
    for (int k = start[r] + 1; k < start[r + 1]; ++k) sum += value[k] * x[column[k]];
    y[r] = sum;
}
