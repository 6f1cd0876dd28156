// Permanents of n matrices of 10 x 10 small counts (entries 0, 1, 2), Ryser's formula, one warp per matrix.
// A lane fixes the five upper columns and walks the lower five in Gray code order, so that a step changes the
// row sums by one column. The products are taken in two float chains whose values are
// whole numbers small enough to be exact, the rest in double.

#define M 10

extern "C" __global__ void permanent(const int* a, long long* y, int n)
{
    int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (w >= n) return;
    const int* m = a + (size_t)w * (M * M);
    float r[M];
#pragma unroll
    for (int i = 0; i < M; ++i) {
        int sum = 0;
#pragma unroll
        for (int j = 5; j < M; ++j)
            if (lane >> (j - 5) & 1) sum += m[i * M + j];
        r[i] = (float)sum;
    }
    double total = 0;
    int set = lane << 5;
    for (int step = 0;;) {
        float p = 1, q = 1;
#pragma unroll
        for (int i = 0; i < 5; ++i) p *= r[i];
#pragma unroll
        for (int i = 5; i < M; ++i) q *= r[i];
        double term = (double)p * (double)q;
        total += (__popc(set) & 1) ? -term : term;
        if (++step == 32) break;
        int j = __ffs(step) - 1;
        set ^= 1 << j;
        float sign = (set >> j & 1) ? 1.0f : -1.0f;
#pragma unroll
        for (int i = 0; i < M; ++i) r[i] += sign * (float)m[i * M + j];
    }
    for (int off = 16; off > 0; off >>= 1)
        total += __shfl_down_sync(0xffffffffu, total, off);
    if (lane == 0) y[w] = __double2ll_rn(total);
}
