// Mean of each column, with blocks that the running program sizes.
__global__ void column_means(const float *a, float *mean, int rows, int cols)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols) {
        float sum = 0.0f;
        for (int i = 0; i < rows; i++)
            sum += a[i * cols + j];
        mean[j] = sum / rows;
    }
}

void means(const float *a, float *mean, int rows, int cols)
{
    const int threads = cols < 256 ? cols : 256;
    column_means<<<(cols + threads - 1) / threads, threads>>>(a, mean, rows, cols);
}
