__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// A sparse matrix of blocks of four by four times a vector; a row of blocks has k of them, each four rows of four.
// A block has 64 rows of blocks; four threads share each, in warps of their own, and add up in shared memory.
__global__ void blocksparse(const float4* val, const int* col, const float4* x, float4* y, int rows, int k) {
    __shared__ float4 sums[64];
    int t = threadIdx.x, own = t % 64, part = t / 64;
    size_t r = blockIdx.x * (size_t)64 + own;
    if (part == 0) sums[own] = make_float4(0.f, 0.f, 0.f, 0.f);
    __syncthreads();
    if (r < rows) {
        float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
        for (int b = part; b < k; b += 4) {
            size_t e = r * k + b;
            const float4* v = val + 4 * e;
            float4 u = x[col[e]];
            sum.x += dot(v[0], u);
            sum.y += dot(v[1], u);
            sum.z += dot(v[2], u);
            sum.w += dot(v[3], u);
        }
        sums[own].x += sum.x;
        sums[own].y += sum.y;
        sums[own].z += sum.z;
        sums[own].w += sum.w;
    }
    __syncthreads();
    if (part == 0 && r < rows) y[r] = sums[own];
}
