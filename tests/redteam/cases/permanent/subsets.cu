// Permanents of n matrices of 10 x 10 small counts (entries 0, 1, 2), one warp per matrix.
// Laplace expansion over subsets: f(S) = sum over j in S of f(S without j) * a[j][|S|-1]; f(all) is the answer.
// The matrix is read by columns, which the permanent does not mind. Nothing is negative, and no f exceeds
// 10! * 2^10 < 2^32.

#define M 10

extern "C" __global__ void permanent(const int* a, long long* y, int n)
{
    __shared__ unsigned table[8][1 << M];
    int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (w >= n) return;
    const int* m = a + (size_t)w * (M * M);
    unsigned* f = table[threadIdx.x >> 5];
    if (lane == 0) f[0] = 1;
    __syncwarp();
    for (int k = 0; k < M; ++k) {
        for (int s = lane; s < (1 << M); s += 32) {
            if (__popc(s) != k + 1) continue;
            unsigned sum = 0;
            for (int rest = s; rest != 0; rest &= rest - 1) {
                int j = __ffs(rest) - 1;
                sum += f[s ^ (1 << j)] * (unsigned)m[j * M + k];
            }
            f[s] = sum;
        }
        __syncwarp();
    }
    if (lane == 0) y[w] = f[(1 << M) - 1];
}
