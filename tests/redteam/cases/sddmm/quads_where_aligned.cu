// Where a sparse matrix has an entry: the product of a row of a and a row of b there, times the entry.
__global__ void sddmm(const int* row, const int* col, const float* value, const float* a, const float* b, float* out,
                      int m, int k) {
    int lane = threadIdx.x % 8;
    bool quads = k % 4 == 0 && ((size_t)a | (size_t)b) % 16 == 0;
    unsigned group = 0xffu << (threadIdx.x % 32 / 8 * 8);
    size_t step = (size_t)gridDim.x * blockDim.x / 8;
    for (size_t e = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 8; e < m; e += step) {
        const float *x = a + (size_t)row[e] * k, *y = b + (size_t)col[e] * k;
        float sum = 0.f;
        if (quads)
            for (int j = lane; j < k / 4; j += 8) {
                float4 p = ((const float4*)x)[j], q = ((const float4*)y)[j];
                sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
            }
        else
            for (int j = lane; j < k; j += 8) sum += x[j] * y[j];
        // Eight lanes have the same entry and leave together.
        for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(group, sum, d);
        if (lane == 0) out[e] = value[e] * sum;
    }
}
