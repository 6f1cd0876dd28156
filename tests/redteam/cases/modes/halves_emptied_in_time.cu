// The commonest byte of each row; of equally common ones the smallest.
// Two counts of 16 bits are in a word, four copies of the words; before a half can be full they are
// emptied into counts in registers, a thread for each byte.
__global__ void modes(const unsigned char* x, int* mode, int rows, int cols) {
    __shared__ unsigned word[4][129];
    __shared__ unsigned long long best;
    const unsigned char* mine = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x, count = 0;
    if (t == 0) best = 0ull;
    for (int from = 0; from < cols; from += 32768) {
        if (t < 129)
            for (int k = 0; k < 4; ++k) word[k][t] = 0u;
        __syncthreads();
        int end = min(cols - from, 32768);
        for (int c = t; c < end; c += 256) {
            int v = mine[from + c];
            atomicAdd(&word[t & 3][v >> 1], v & 1 ? 65536u : 1u);
        }
        __syncthreads();
        for (int k = 0; k < 4; ++k) count += word[k][t >> 1] >> (t & 1) * 16 & 65535u;
        __syncthreads();
    }
    atomicMax(&best, (unsigned long long)count << 8 | (255 - t));
    __syncthreads();
    if (t == 0) mode[blockIdx.x] = 255 - (int)(best & 255);
}
