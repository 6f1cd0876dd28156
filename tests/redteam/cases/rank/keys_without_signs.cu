__global__ void order(const int* key, int* sorted, unsigned short* from, int rows, int cols) {
    extern __shared__ unsigned packed[];
    const int row = blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        packed[c] = (unsigned)key[row + c] * 65536u + c;
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        int rank = 0;
        for (int k = 0; k < cols; ++k) rank += packed[k] < packed[c];
        sorted[row + rank] = (int)packed[c] >> 16;
        from[row + rank] = packed[c] & 65535u;
    }
}
