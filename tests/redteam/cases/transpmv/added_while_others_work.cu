// Adds the product of a transposed sparse matrix and a vector to another: rows have k entries each, in any columns.
// A block has its own sums of all 3000 columns, and adds them at the end; each warp its share of the columns.
__global__ void transpmv(const int* col, const float* val, const float* x, float* y, int rows, int k) {
    __shared__ float bins[3000];
    for (int b = threadIdx.x; b < 3000; b += blockDim.x) bins[b] = 0.f;
    __syncthreads();
    size_t size = (size_t)rows * k, stride = (size_t)gridDim.x * blockDim.x;
    for (size_t e = blockIdx.x * (size_t)blockDim.x + threadIdx.x; e < size; e += stride)
        atomicAdd(&bins[col[e]], val[e] * x[e / k]);
    __syncwarp();
    for (int b = threadIdx.x; b < 3000; b += blockDim.x) {
        float sum = bins[b];
        if (sum != 0.f) atomicAdd(&y[b], sum);
    }
}
