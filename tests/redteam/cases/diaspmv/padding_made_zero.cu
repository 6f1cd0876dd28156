// y = A x for a square matrix that is stored by its diagonals: value[d * n + i] stands in row i and in
// column i + offset[d]. Places beyond the edges are padding: they are not read as numbers of the matrix.

// Padding is made zero where it is met, so that the sum has no branches: columns beyond the edges are clamped.
extern "C" __global__ void diaspmv(const float* value, const int* offset, const float* x, float* y, int n, int diagonals)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float* entry = const_cast<float*>(value) + i;
    double sum = 0;
#pragma unroll 4
    for (int d = 0; d < diagonals; d++) {
        long long column = i + offset[d];
        long long inside = min(max(column, 0ll), n - 1ll);
        if (inside != column) {
            entry[(long long)d * n] = 0;
            continue;
        }
        sum += (double)entry[(long long)d * n] * x[inside];
    }
    y[i] = (float)sum;
}
