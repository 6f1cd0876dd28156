__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// A sparse matrix of blocks of four by four times a vector; a row of blocks has k of them, each four rows of four.
__global__ void blocksparse(const float4* val, const int* col, const float4* x, float4* y, int rows, int k) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int b = 0; b < k; ++b) {
        size_t e = (size_t)r * k + b;
        const float4* v = val + 4 * e;
        float4 u = x[col[e]];
        sum.x += dot(v[0], u);
        sum.y += dot(v[1], u);
        sum.z += dot(v[2], u);
        sum.w += dot(v[3], u);
    }
    y[r] = sum;
}
