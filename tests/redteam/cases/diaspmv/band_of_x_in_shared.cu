// y = A x for a square matrix that is stored by its diagonals: value[d * n + i] stands in row i and in
// column i + offset[d]. Places beyond the edges are padding: they are not read as numbers of the matrix.

// The part of x that the rows of a block meet comes into shared memory once.
constexpr int reach = 512;
constexpr int rows = 256;

extern "C" __global__ void diaspmv(const float* value, const int* offset, const float* x, float* y, int n, int diagonals)
{
    __shared__ float band[rows + 2 * reach];
    long long start = (long long)blockIdx.x * rows;
    for (int e = threadIdx.x; e < rows + 2 * reach; e += rows) {
        long long column = start - reach + e;
        band[e] = column >= 0 && column < n ? x[column] : 0;
    }
    __syncthreads();
    long long i = start + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int d = 0; d < diagonals; d++) {
        int step = offset[d];
        if (step < -reach || step > reach)
            continue;
        if (i + step >= 0 && i + step < n)
            sum += (double)value[(long long)d * n + i] * band[threadIdx.x + reach + step];
    }
    y[i] = (float)sum;
}
