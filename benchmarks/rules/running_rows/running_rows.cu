// Running sums along each row: the first step of an integral image.
__global__ void running_rows(const float *image, float *sums, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float acc = 0.0f;
    for (int c = 0; c < cols; c++) {
        acc += image[r * cols + c];
        sums[r * cols + c] = acc;
    }
}

void integrate(const float *image, float *sums, int rows, int cols)
{
    running_rows<<<(rows + 127) / 128, 128>>>(image, sums, rows, cols);
}
