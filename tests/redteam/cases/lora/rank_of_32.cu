// What a layer of low rank adds to its results: y += scale * (x a) b. Eight rows a block.
__global__ void lora(const float* x, const float* a, const float* b, float* y, int n, int d, int r, int m,
                     float scale) {
    __shared__ float mid[8][32];
    int row = threadIdx.x / 32, lane = threadIdx.x % 32, first = blockIdx.x * 8, i = first + row;
    {
        int j = lane;
        float s0 = 0.f, s1 = 0.f;
        if (i < n && j < r) {
            int k = 0;
            for (; k + 1 < d; k += 2) {
                s0 += x[(size_t)i * d + k] * a[(size_t)k * r + j];
                s1 += x[(size_t)i * d + k + 1] * a[(size_t)(k + 1) * r + j];
            }
            if (k < d) s0 += x[(size_t)i * d + k] * a[(size_t)k * r + j];
        }
        mid[row][lane] = s0 + s1;
        __syncthreads();
        int many = min(32, r);
        for (int q = threadIdx.x; q < m; q += 256) {
            float sum[8] = {};
            for (int e = 0; e < many; ++e) {
                float v = b[(size_t)e * m + q];
#pragma unroll
                for (int k = 0; k < 8; ++k) sum[k] += mid[k][e] * v;
            }
#pragma unroll
            for (int k = 0; k < 8; ++k)
                if (first + k < n) y[(size_t)(first + k) * m + q] += scale * sum[k];
        }
    }
}
