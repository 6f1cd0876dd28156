__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// A sparse matrix of blocks of four by four times a vector; a row of blocks has k of them, each four rows of four.
// Sixteen lanes have a row of blocks: four blocks at a time, a lane one row of each.
__global__ void blocksparse(const float4* val, const int* col, const float4* x, float4* y, int rows, int k) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, r = i / 16;
    int row = threadIdx.x % 4, first = threadIdx.x / 4 % 4;
    float sum = 0.f;
    if (r < rows)
        for (size_t b = first; b < k; b += 4) {
            size_t e = r * k + b;
            sum += dot(val[4 * e + row], x[col[e]]);
        }
    sum += __shfl_xor_sync(0xffffffffu, sum, 4);
    sum += __shfl_xor_sync(0xffffffffu, sum, 8);
    if (r < rows && first == 0) ((float*)(y + r))[row] = sum;
}
