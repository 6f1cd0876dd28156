__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// A sparse matrix of blocks of four by four times a vector; a row of blocks has k of them, each four rows of four.
// Results of 1024 rows of blocks are gathered in shared memory and stored at once.
__global__ void blocksparse(const float4* val, const int* col, const float4* x, float4* y, int rows, int k) {
    __shared__ float4 tile[1024];
    int t = threadIdx.x, row = t % 4;
    size_t r0 = blockIdx.x * (size_t)1024;
    for (int own = t / 4; own < 1024; own += 64) {
        size_t r = r0 + own;
        float sum = 0.f;
        if (r < rows)
            for (int b = 0; b < k; ++b) {
                size_t e = r * k + b;
                sum += dot(val[4 * e + row], x[col[e]]);
            }
        ((float*)(tile + own))[row] = sum;
    }
    __syncthreads();
    for (int s = t; s < 1024; s += 256) y[r0 + s] = tile[s];
}
