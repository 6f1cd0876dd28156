// The commonest byte of each row; of equally common ones the smallest.
__global__ void modes(const unsigned char* x, int* mode, int rows, int cols) {
    __shared__ int count[256];
    const unsigned char* mine = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    count[t] = 0;
    __syncthreads();
    for (int c = t; c < cols; c += 256) atomicAdd(&count[mine[c]], 1);
    __syncthreads();
    if (t) return;
    int best = 0;
    for (int v = 1; v < 256; ++v)
        if (count[v] > count[best]) best = v;
    mode[blockIdx.x] = best;
}
