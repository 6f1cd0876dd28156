__global__ void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (r >= rows) return;
    float sum = 0.f;
    for (int k = start[r] + lane; k < start[r + 1]; k += 8) sum += value[k] * x[column[k]];
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffu << (threadIdx.x & 24), sum, d, 8);
    if (lane <= 1) y[r] = sum;
}
