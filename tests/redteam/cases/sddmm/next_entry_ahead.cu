// Where a sparse matrix has an entry: the product of a row of a and a row of b there, times the entry.
__global__ void sddmm(const int* row, const int* col, const float* value, const float* a, const float* b, float* out,
                      int m, int k) {
    int lane = threadIdx.x % 8;
    size_t step = (size_t)gridDim.x * blockDim.x / 8;
    unsigned group = 0xffu << (threadIdx.x % 32 / 8 * 8);
    size_t e = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 8;
    if (e >= m) return;
    int r = row[e], c = col[e];
    for (; e < m; e += step) {
        // Where the next entry is, is known before it is its turn.
        int r1 = row[e + step], c1 = col[e + step];
        const float *x = a + (size_t)r * k, *y = b + (size_t)c * k;
        float sum = 0.f;
        for (int j = lane; j < k; j += 8) sum += x[j] * y[j];
        for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(group, sum, d);
        if (lane == 0) out[e] = value[e] * sum;
        r = r1, c = c1;
    }
}
