__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// A sparse matrix of blocks of four by four times a vector; a row of blocks has k of them, each four rows of four.
// A thread has two rows of blocks, for more loads in flight.
__global__ void blocksparse(const float4* val, const int* col, const float4* x, float4* y, int rows, int k) {
    size_t pair = blockIdx.x * (size_t)blockDim.x + threadIdx.x, r = 2 * pair;
    if (r >= rows) return;
    size_t next = r + 1 < rows ? r + 1 : r;
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f), other = sum;
    for (int b = 0; b < k; ++b) {
        size_t e = r * k + b, f = next * k + b;
        float4 u = x[col[e]], o = x[col[f]];
        const float4 *v = val + 4 * e, *n = val + 4 * f;
        sum.x += dot(v[0], u);
        sum.y += dot(v[1], u);
        sum.z += dot(v[2], u);
        sum.w += dot(v[3], u);
        other.x += dot(n[0], o);
        other.y += dot(n[1], o);
        other.z += dot(n[2], o);
        other.w += dot(n[3], o);
    }
    y[r] = sum;
    y[r + 1] = other;
}
