// The product of two matrices of lengths over (min, +): c[i][j] is the shortest way from i over some q to j.
// Infinity is no way at all, and so is what is not a number: neither is ever the shortest.
// A block of 64 x 64 ways, 4 x 4 to a thread; 128 steps of both sides at a time in shared memory.
constexpr int side = 64;
constexpr int depth = 128;

extern "C" __global__ void tropical(const float* a, const float* b, float* c, int m, int k, int n)
{
    extern __shared__ float tile[];
    float* left = tile;
    float* right = tile + side * (depth + 1);
    int t = threadIdx.y * 16 + threadIdx.x;
    long long top = (long long)blockIdx.y * side;
    long long start = (long long)blockIdx.x * side;
    float best[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            best[i][j] = INFINITY;
    for (int from = 0; from < k; from += depth) {
        for (int e = t; e < side * depth; e += 256) {
            int q = e % depth;
            long long row = top + e / depth;
            left[(e / depth) * (depth + 1) + q] = row < m && from + q < k ? a[row * k + from + q] : INFINITY;
        }
        for (int e = t; e < side * depth; e += 256) {
            int q = e / side;
            long long column = start + e % side;
            right[e] = column < n && from + q < k ? b[(long long)(from + q) * n + column] : INFINITY;
        }
        __syncthreads();
        int steps = min(depth, k - from);
        for (int q = 0; q < steps; q++) {
            float down[4], over[4];
            for (int i = 0; i < 4; i++) {
                down[i] = left[(threadIdx.y + 16 * i) * (depth + 1) + q];
                over[i] = right[q * side + threadIdx.x + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float sum = down[i] + over[j];
                    best[i][j] = sum < best[i][j] ? sum : best[i][j];
                }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            long long row = top + threadIdx.y + 16 * i;
            long long column = start + threadIdx.x + 16 * j;
            if (row < m && column < n)
                c[row * n + column] = best[i][j];
        }
}
