__device__ __forceinline__ unsigned tf32(float v) {
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
    return r;
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A float is two numbers of tensor cores, of which the products that count are taken. Sums of 32
// rows are added as floats. What is huge, infinite or no number goes the plain way: its rest would
// be no number.
__global__ void __launch_bounds__(128) colprods(const float* __restrict__ x, float* __restrict__ g,
                                                int rows, int d) {
    __shared__ float left[32][40], right[32][40];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, y = warp / 2 * 16, z = warp % 2 * 16;
    int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32, gid = lane / 4, tid = lane % 4;
    float sum[2][4] = {};
    for (int r0 = 0; r0 < rows; r0 += 32) {
        bool huge = false;
        for (int e = t; e < 32 * 32; e += 128) {
            int r = e / 32, q = e % 32;
            const float* row = x + (size_t)(r0 + r) * d;
            float u = r0 + r < rows && i0 + q < d ? row[i0 + q] : 0.f;
            float v = r0 + r < rows && j0 + q < d ? row[j0 + q] : 0.f;
            left[r][q] = u;
            right[r][q] = v;
            huge = huge || !(fabsf(u) < 1e18f) || !(fabsf(v) < 1e18f);
        }
        if (__syncthreads_or(huge)) {
            for (int j = 0; j < 2; ++j)
                for (int e = 0; e < 4; ++e)
                    for (int r = 0; r < 32; ++r)
                        sum[j][e] += left[r][y + gid + e / 2 * 8] *
                                     right[r][z + 8 * j + tid * 2 + e % 2];
        } else {
            float part[2][4] = {};
#pragma unroll
            for (int r = 0; r < 32; r += 8) {
                unsigned ah[4], al[4];
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    float v = left[r + tid + e / 2 * 4][y + gid + e % 2 * 8];
                    ah[e] = tf32(v);
                    al[e] = tf32(v - __uint_as_float(ah[e]));
                }
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    unsigned bh[2];
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        float v = right[r + tid + e * 4][z + 8 * j + gid];
                        bh[e] = tf32(v);
                    }
                    multiply(part[j], al, bh);
                    multiply(part[j], ah, bh);
                }
            }
            for (int j = 0; j < 2; ++j)
                for (int e = 0; e < 4; ++e) sum[j][e] += part[j][e];
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; ++j)
        for (int e = 0; e < 4; ++e) {
            int row = i0 + y + gid + e / 2 * 8, col = j0 + z + 8 * j + tid * 2 + e % 2;
            if (row < d && col < d) g[(size_t)row * d + col] = sum[j][e];
        }
}
