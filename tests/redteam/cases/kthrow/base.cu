// The k-th smallest number of each row, from zero on; the largest where there are not so many. Bit by bit,
// by how many are below.
__global__ void kthrow(const unsigned* x, unsigned* out, int rows, int cols, int k) {
    __shared__ int below;
    int t = threadIdx.x;
    const unsigned* at = x + blockIdx.x * (size_t)cols;
    k = min(k, cols - 1);
    unsigned found = 0;
    for (unsigned bit = 1u << 31; bit; bit >>= 1) {
        if (t == 0) below = 0;
        __syncthreads();
        int own = 0;
        for (int c = t; c < cols; c += 256) own += at[c] < (found | bit);
        atomicAdd(&below, own);
        __syncthreads();
        if (below <= k) found |= bit;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = found;
}
