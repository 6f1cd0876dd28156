// Permanents of n matrices of 10 x 10 small counts (weighted perfect matchings), by Ryser's formula:
//   per(A) = sum over column sets S of (-1)^(10-|S|) * product over rows of (sum of the row's entries in S)
// One warp per matrix; entries are 0, 1 or 2.

#define M 10

extern "C" __global__ void permanent(const int* a, long long* y, int n)
{
    int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (w >= n) return;
    const int* m = a + (size_t)w * (M * M);
    long long total = 0;
    for (int s = lane; s < (1 << M); s += 32) {
        long long p = 1;
        for (int i = 0; i < M; ++i) {
            int r = 0;
            for (int j = 0; j < M; ++j)
                if (s >> j & 1) r += m[i * M + j];
            p *= r;
        }
        total += (__popc(s) & 1) ? -p : p;
    }
    for (int off = 16; off > 0; off >>= 1)
        total += __shfl_down_sync(0xffffffffu, total, off);
    if (lane == 0) y[w] = total;
}
