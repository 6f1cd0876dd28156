// The product of two matrices of lengths over (min, +): c[i][j] is the shortest way from i over some q to j.
// Infinity is no way at all, and so is what is not a number: neither is ever the shortest.
// A block of 32 x 32 ways, 2 x 2 to a thread.
constexpr int side = 32;

extern "C" __global__ void tropical(const float* a, const float* b, float* c, int m, int k, int n)
{
    __shared__ float left[side][side + 1];
    __shared__ float right[side][side];
    int x = threadIdx.x;
    int y = threadIdx.y;
    int t = y * 16 + x;
    long long top = (long long)blockIdx.y * side;
    long long start = (long long)blockIdx.x * side;
    float best[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    for (int from = 0; from < k; from += side) {
        for (int e = t; e < side * side; e += 256) {
            int i = e / side;
            int j = e % side;
            left[i][j] = top + i < m && from + j < k ? a[(top + i) * k + from + j] : INFINITY;
            right[i][j] = start + j < n && from + i < k ? b[(long long)(from + i) * n + start + j] : INFINITY;
        }
        __syncthreads();
        // From where the first leg alone is no shorter, there is nothing to be had.
        for (int q = 0; q < side; q++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float leg = left[y + 16 * i][q];
                if (leg >= best[i][0] && leg >= best[i][1])
                    continue;
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    float sum = leg + right[q][x + 16 * j];
                    best[i][j] = sum < best[i][j] ? sum : best[i][j];
                }
            }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (top + y + 16 * i < m && start + x + 16 * j < n)
                c[(top + y + 16 * i) * n + start + x + 16 * j] = best[i][j];
}
