// Prefix sums of each block and its total, by doubling distances.
#define BLOCK 256

__global__ void block_scan(const float *x, float *y, float *totals, int n)
{
    __shared__ float s[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int off = 1; off < BLOCK; off <<= 1) {
        float v = t >= off ? s[t - off] : 0.0f;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (i < n) y[i] = s[t];
    if (t == BLOCK - 1) totals[blockIdx.x] = s[t];
}

void scan(const float *x, float *y, float *totals, int n)
{
    block_scan<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, y, totals, n);
}
