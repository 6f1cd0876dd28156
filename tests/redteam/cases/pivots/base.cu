// Determinants of matrices of six by six; each column is cleared by the largest of what it has left.
__global__ void pivots(const double* a, double* det, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double m[6][6], product = 1.0;
    for (int k = 0; k < 36; ++k) m[k / 6][k % 6] = a[(size_t)i * 36 + k];
    for (int c = 0; c < 6; ++c) {
        int at = c;
        for (int r = c + 1; r < 6; ++r)
            if (fabs(m[r][c]) > fabs(m[at][c])) at = r;
        if (at != c) {
            product = -product;
            for (int k = c; k < 6; ++k) {
                double held = m[c][k];
                m[c][k] = m[at][k];
                m[at][k] = held;
            }
        }
        product *= m[c][c];
        if (m[c][c] == 0.0) break;
        for (int r = c + 1; r < 6; ++r) {
            double f = __ddiv_rn(m[r][c], m[c][c]);
            for (int k = c + 1; k < 6; ++k) m[r][k] = fma(-f, m[c][k], m[r][k]);
        }
    }
    det[i] = product;
}
