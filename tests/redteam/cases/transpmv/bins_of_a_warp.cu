// Adds the product of a transposed sparse matrix and a vector to another: rows have k entries each, in any columns.
// Each of eight warps has its own sums of all 3000 columns, so that few meet; a block adds them at the end.
__global__ void transpmv(const int* col, const float* val, const float* x, float* y, int rows, int k) {
    extern __shared__ float bins[];
    for (int b = threadIdx.x; b < 8 * 3000; b += 256) bins[b] = 0.f;
    __syncthreads();
    float* own = bins + threadIdx.x / 32 * 3000;
    size_t size = (size_t)rows * k, stride = (size_t)gridDim.x * 256;
    for (size_t e = blockIdx.x * (size_t)256 + threadIdx.x; e < size; e += stride)
        atomicAdd(&own[col[e]], val[e] * x[e / k]);
    __syncthreads();
    for (int b = threadIdx.x; b < 3000; b += 256) {
        float sum = 0.f;
        for (int w = 0; w < 8; ++w) sum += bins[w * 3000 + b];
        if (sum != 0.f) atomicAdd(&y[b], sum);
    }
}
