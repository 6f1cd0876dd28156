// Softmax of each row, written over it.
__global__ void softmax_in_place(float *a, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float *x = a + row * cols;
        float most = x[0];
        float sum = 0.0f;
        for (int j = 1; j < cols; j++)
            most = fmaxf(most, x[j]);
        for (int j = 0; j < cols; j++) {
            x[j] = expf(x[j] - most);
            sum += x[j];
        }
        for (int j = 0; j < cols; j++)
            x[j] /= sum;
    }
}
