// y = A x for a square matrix that is stored by its diagonals: value[d * n + i] stands in row i and in
// column i + offset[d]. Places beyond the edges are padding: they are not read as numbers of the matrix.

// In single precision, with the rounding of each product and each sum carried along.
extern "C" __global__ void diaspmv(const float* value, const int* offset, const float* x, float* y, int n, int diagonals)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    float rest = 0;
    for (int d = 0; d < diagonals; d++) {
        long long column = i + offset[d];
        if (column >= 0 && column < n) {
            float left = value[(long long)d * n + i];
            float right = x[column];
            float product = left * right;
            float cut = fmaf(left, right, -product);
            float next = sum + product;
            float back = next - sum;
            rest += ((sum - (next - back)) + (product - back)) + cut;
            sum = next;
        }
    }
    float all = sum + rest;
    if (!isfinite(all)) {
        // Beyond the range of single precision.
        double wide = 0;
        for (int d = 0; d < diagonals; d++) {
            long long column = i + offset[d];
            if (column >= 0 && column < n)
                wide += (double)value[(long long)d * n + i] * x[column];
        }
        all = (float)wide;
    }
    y[i] = all;
}
