// y = A x for a square matrix that is stored by its diagonals: value[d * n + i] stands in row i and in
// column i + offset[d]. Places beyond the edges are padding: they are not read as numbers of the matrix.

extern "C" __global__ void diaspmv(const float* value, const int* offset, const float* x, float* y, int n, int diagonals)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned rows = n;
    double sum = 0;
#pragma unroll 4
    for (int d = 0; d < diagonals; d++) {
        long long column = i + offset[d];
        if (column >= 0 && column < n)
            sum += (double)value[__umul24(d, rows) + (unsigned)i] * x[column];
    }
    y[i] = (float)sum;
}
