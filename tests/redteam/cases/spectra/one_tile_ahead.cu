#include <cuda_pipeline.h>

// How alike spectra are. While a block works on 32 lines of 32 spectra of each kind, the next ones are on their way.
__global__ void spectra(const float* measured, const float* library, const float* trust, const float* purity, float* score,
                        int n, int m, int lines) {
    __shared__ float left[2][32][33], right[2][32][33];
    int t = threadIdx.x, across = (m + 31) / 32, i0 = blockIdx.x / across * 32, j0 = blockIdx.x % across * 32;
    auto fetch = [&](int l0, int at) {
        for (int e = t; e < 1024; e += 256) {
            int r = e / 32, l = e % 32;
            bool line = l0 + l < lines;
            if (line && i0 + r < n)
                __pipeline_memcpy_async(&left[at][r][l], measured + (size_t)(i0 + r) * lines + l0 + l, 4);
            else
                left[at][r][l] = 0.f;
            if (line && j0 + r < m)
                __pipeline_memcpy_async(&right[at][r][l], library + (size_t)(j0 + r) * lines + l0 + l, 4);
            else
                right[at][r][l] = 0.f;
        }
        __pipeline_commit();
    };
    float sum[4] = {};
    fetch(0, 0);
    for (int l0 = 0, at = 0; l0 < lines; l0 += 32, at ^= 1) {
        if (l0 + 32 < lines) fetch(l0 + 32, at ^ 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int l = 0; l < 32; ++l)
            for (int k = 0; k < 4; ++k) sum[k] += left[at][t / 32 + 8 * k][l] * right[at][t % 32][l];
        __syncthreads();
    }
    for (int k = 0; k < 4; ++k) {
        int i = i0 + t / 32 + 8 * k, j = j0 + t % 32;
        if (i < n && j < m) score[(size_t)i * m + j] = sum[k] * trust[i] * purity[j];
    }
}
