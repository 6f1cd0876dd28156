// How alike spectra are. A block has 64 of each kind with 128 of their lines at a time, and a thread 16 scores.
__global__ void spectra(const float* measured, const float* library, const float* trust, const float* purity, float* score,
                        int n, int m, int lines) {
    extern __shared__ float room[];
    float *left = room, *right = room + 64 * 129;
    int t = threadIdx.x, across = (m + 63) / 64, i0 = blockIdx.x / across * 64, j0 = blockIdx.x % across * 64;
    float sum[4][4] = {};
    for (int l0 = 0; l0 < lines; l0 += 128) {
        __syncthreads();
        for (int e = t; e < 64 * 128; e += 256) {
            int r = e / 128, l = e % 128;
            bool line = l0 + l < lines;
            left[r * 129 + l] = line && i0 + r < n ? measured[(size_t)(i0 + r) * lines + l0 + l] : 0.f;
            right[r * 129 + l] = line && j0 + r < m ? library[(size_t)(j0 + r) * lines + l0 + l] : 0.f;
        }
        __syncthreads();
        for (int l = 0; l < min(128, lines - l0); ++l) {
            float a[4], b[4];
            for (int k = 0; k < 4; ++k) {
                a[k] = left[(t / 16 + 16 * k) * 129 + l];
                b[k] = right[(t % 16 + 16 * k) * 129 + l];
            }
            for (int p = 0; p < 4; ++p)
                for (int q = 0; q < 4; ++q) sum[p][q] += a[p] * b[q];
        }
    }
    for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q) {
            int i = i0 + t / 16 + 16 * p, j = j0 + t % 16 + 16 * q;
            if (i < n && j < m) score[(size_t)i * m + j] = sum[p][q] * trust[i] * purity[j];
        }
}
