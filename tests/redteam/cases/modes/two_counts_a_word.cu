// The commonest byte of each row; of equally common ones the smallest.
// Two counts of 16 bits are in a word: half the shared memory, and half to be cleared.
__global__ void modes(const unsigned char* x, int* mode, int rows, int cols) {
    __shared__ unsigned word[128];
    __shared__ unsigned long long best;
    const unsigned char* mine = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x, count = 0;
    if (t == 0) best = 0ull;
    if (t < 128) word[t] = 0u;
    __syncthreads();
    for (int c = t; c < cols; c += 256) {
        int v = mine[c];
        atomicAdd(&word[v >> 1], v & 1 ? 65536u : 1u);
    }
    __syncthreads();
    count = word[t >> 1] >> (t & 1) * 16 & 65535u;
    atomicMax(&best, (unsigned long long)count << 8 | (255 - t));
    __syncthreads();
    if (t == 0) mode[blockIdx.x] = 255 - (int)(best & 255);
}
