// The product of two matrices of lengths over (min, +): c[i][j] is the shortest way from i over some q to j.
// Infinity is no way at all, and so is what is not a number: neither is ever the shortest.
constexpr int side = 16;

extern "C" __global__ void tropical(const float* a, const float* b, float* c, int m, int k, int n)
{
    __shared__ float left[side][side];
    __shared__ float right[side][side];
    int x = threadIdx.x;
    int y = threadIdx.y;
    long long row = (long long)blockIdx.y * side + y;
    long long column = (long long)blockIdx.x * side + x;
    float best = INFINITY;
    for (int from = 0; from < k; from += side) {
        left[y][x] = row < m && from + x < k ? a[row * k + from + x] : INFINITY;
        right[y][x] = column < n && from + y < k ? b[(long long)(from + y) * n + column] : INFINITY;
        __syncthreads();
        for (int q = 0; q < side; q++) {
            float sum = left[y][q] + right[q][x];
            if (sum < best)
                best = sum;
        }
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = best;
}
