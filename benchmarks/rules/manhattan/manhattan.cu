// Sum of absolute differences between rows and columns: block matching, by a product's scheme.
#define BLOCK 16

__global__ void manhattan(const float *left, const float *right, float *cost,
                          int rows, int cols, int depth)
{
    const int x = blockIdx.x * BLOCK + threadIdx.x;
    const int y = blockIdx.y * BLOCK + threadIdx.y;
    if (x >= cols || y >= rows) return;
    float total = 0.0f;
    for (int d = 0; d < depth; ++d)
        total += fabsf(left[y * depth + d] - right[d * cols + x]);
    cost[y * cols + x] = total;
}

void match(const float *left, const float *right, float *cost, int rows, int cols, int depth)
{
    dim3 block(BLOCK, BLOCK);
    dim3 grid((cols + BLOCK - 1) / BLOCK, (rows + BLOCK - 1) / BLOCK);
    manhattan<<<grid, block>>>(left, right, cost, rows, cols, depth);
}
