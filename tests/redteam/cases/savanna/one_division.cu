// How unlike are plots and sites?  For n plots and s sites with d species counts each:
//   out[i][j] = sum over species of |a-b| / (|a|+|b|)
// Where both counts are zero, or one of them is missing (NaN), the species counts for nothing.
// Tiles of 64 x 64 pairs, 16 species deep, 4 x 4 pairs per thread.
// Two species share a division: p/q + r/t = (p*t + r*q) / (q*t).
#define T 64
#define D 16

extern "C" __global__ void __launch_bounds__(256) savanna(const float* __restrict__ plot, const float* __restrict__ site,
                                                          float* __restrict__ out, int n, int s, int d)
{
    __shared__ float A[D][T + 4], B[D][T + 4];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const int r0 = blockIdx.y * T, c0 = blockIdx.x * T;
    float acc[4][4] = {};
    for (int k = 0; k < d; k += D) {
        for (int i = threadIdx.x; i < T * D; i += 256) {
            const int r = i / D, c = i % D;
            const bool in = k + c < d;
            A[c][r] = in && r0 + r < n ? plot[(size_t)(r0 + r) * d + k + c] : 0.f;
            B[c][r] = in && c0 + r < s ? site[(size_t)(c0 + r) * d + k + c] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < D; c += 2) {
            float a[4], b[4], u[4], v[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                a[i] = A[c][ty + 16 * i]; b[i] = B[c][tx + 16 * i];
                u[i] = A[c + 1][ty + 16 * i]; v[i] = B[c + 1][tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float q = fabsf(a[i]) + fabsf(b[j]), t = fabsf(u[i]) + fabsf(v[j]);
                    float p = fabsf(a[i] - b[j]), r = fabsf(u[i] - v[j]);
                    if (!(q > 0.f)) { p = 0.f; q = 1.f; }
                    if (!(t > 0.f)) { r = 0.f; t = 1.f; }
                    acc[i][j] += (p * t + r * q) / (q * t);
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int r = r0 + ty + 16 * i, c = c0 + tx + 16 * j;
            if (r < n && c < s) out[(size_t)r * s + c] = acc[i][j];
        }
}
