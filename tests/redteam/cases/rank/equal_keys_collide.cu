__global__ void order(const int* key, int* sorted, unsigned short* from, int rows, int cols) {
    extern __shared__ int held[];
    const int row = blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) held[c] = key[row + c];
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        int rank = 0;
        for (int k = 0; k < cols; ++k) rank += held[k] < held[c];
        sorted[row + rank] = held[c];
        from[row + rank] = c;
    }
}
