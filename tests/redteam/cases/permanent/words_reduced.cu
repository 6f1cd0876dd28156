// Permanents of n matrices of 10 x 10 small counts (entries 0, 1, 2), Ryser's formula, one warp per matrix.
// The terms are taken modulo 2^32 and cancel down to the answer, so 32-bit words do; the hardware's
// warp reduction adds them.

#define M 10

extern "C" __global__ void permanent(const int* a, long long* y, int n)
{
    int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (w >= n) return;
    const int* m = a + (size_t)w * (M * M);
    unsigned acc = 0;
    for (int s = lane; s < (1 << M); s += 32) {
        unsigned p = 1;
#pragma unroll
        for (int i = 0; i < M; ++i) {
            unsigned r = 0;
#pragma unroll
            for (int j = 0; j < M; ++j)
                if (s >> j & 1) r += (unsigned)m[i * M + j];
            p *= r;
        }
        acc += (__popc(s) & 1) ? 0u - p : p;
    }
    int total = __reduce_add_sync(0xffffffffu, (int)acc);
    if (lane == 0) y[w] = total;
}
