// Take the mean of each column off it, in place, and keep the mean.
__global__ void centre_columns(double *x, double *mean, int rows, int cols)
{
    int c = threadIdx.x + blockIdx.x * blockDim.x;
    if (c >= cols) return;
    double sum = 0;
    for (int r = 0; r < rows; r++)
        sum += x[r * cols + c];
    sum /= rows;
    mean[c] = sum;
    for (int r = 0; r < rows; r++)
        x[r * cols + c] -= sum;
}

void centre(double *x, double *mean, int rows, int cols)
{
    centre_columns<<<(cols + 63) / 64, 64>>>(x, mean, rows, cols);
}
