// Where a sparse matrix has an entry: the product of a row of a and a row of b there, times the entry.
__global__ void sddmm(const int* row, const int* col, const float* value, const float* a, const float* b, float* out,
                      int m, int k) {
    size_t e = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 8;
    int lane = threadIdx.x % 8;
    bool mine = e < m;
    float sum = 0.f;
    if (mine) {
        const float *x = a + (size_t)row[e] * k, *y = b + (size_t)col[e] * k;
        for (int j = lane; j < k; j += 8) sum += x[j] * y[j];
    }
    // Lanes without an entry shuffle along.
    for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (mine && lane == 0) out[e] = value[e] * sum;
}
