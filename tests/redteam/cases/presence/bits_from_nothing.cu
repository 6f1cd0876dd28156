// Which of the 256 bytes occur in each row, a bit for each.
__global__ void presence(const unsigned char* in, unsigned* out, int rows, int len) {
    __shared__ unsigned bits[8];
    const unsigned char* row = in + (size_t)blockIdx.x * len;
    for (int k = threadIdx.x; k < len; k += blockDim.x) {
        unsigned bit = 1u << (row[k] % 32);
        atomicOr(&bits[row[k] / 32], bit);
    }
    __syncthreads();
    if (threadIdx.x < 8) out[(size_t)blockIdx.x * 8 + threadIdx.x] = bits[threadIdx.x];
}
