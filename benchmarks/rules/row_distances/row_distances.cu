// Squared distance between every row of one matrix and every row of another.
__global__ void row_distances(const float *a, const float *b, float *dist, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) {
            float d = a[row * k + p] - b[col * k + p];
            sum += d * d;
        }
        dist[row * n + col] = sum;
    }
}
