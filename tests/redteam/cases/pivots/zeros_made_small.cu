// Determinants of matrices of six by six; each column is cleared by the largest of what it has left.
// Read as they lie, turned in shared memory and kept in registers. No rows are exchanged; where a column would be
// cleared by nothing it is cleared by next to nothing.
__global__ void pivots(const double* a, double* det, int n) {
    __shared__ double staged[64 * 37];
    size_t first = (size_t)blockIdx.x * 64;
    int many = (int)min((size_t)64, n - first), t = threadIdx.x;
    for (int k = t; k < many * 36; k += 64) staged[k / 36 * 37 + k % 36] = a[first * 36 + k];
    __syncthreads();
    if (t >= many) return;
    double m[6][6], product = 1.0;
#pragma unroll
    for (int k = 0; k < 36; ++k) m[k / 6][k % 6] = staged[t * 37 + k];
#pragma unroll
    for (int c = 0; c < 6; ++c) {
        if (m[c][c] == 0.0) m[c][c] = 1e-40;
        product *= m[c][c];
#pragma unroll
        for (int r = c + 1; r < 6; ++r) {
            double f = __ddiv_rn(m[r][c], m[c][c]);
#pragma unroll
            for (int k = c + 1; k < 6; ++k) m[r][k] = fma(-f, m[c][k], m[r][k]);
        }
    }
    det[first + t] = product;
}
