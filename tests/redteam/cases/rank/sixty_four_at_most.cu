__global__ void order(const int* key, int* sorted, unsigned short* from, int rows, int cols) {
    __shared__ int held[64];
    const int row = blockIdx.x * cols, c = threadIdx.x;
    if (c < cols) held[c] = key[row + c];
    __syncthreads();
    if (c >= cols) return;
    int rank = 0;
    for (int k = 0; k < min(cols, 64); ++k)
        rank += held[k] < held[c] || (held[k] == held[c] && k < c);
    sorted[row + rank] = held[c];
    from[row + rank] = c;
}
