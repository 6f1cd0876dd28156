__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    extern __shared__ int table[];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y;
    for (int k = t; k < 2 * districts; k += threads) table[k] = 0;
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        const int* at = label + (long long)y * w + x;
        int own = *at;
        int e = (x == 0 || at[-1] != own) + (x == w - 1 || at[1] != own) + (y == 0 || at[-w] != own) +
                (y == h - 1 || at[w] != own);
        atomicAdd(&table[own], 1);
        if (e) atomicAdd(&table[districts + own], e);
    }
    __syncthreads();
    for (int k = t; k < districts; k += threads) {
        if (table[k] == 0) continue;
        atomicAdd(&area[k], table[k]);
        atomicAdd(&edge[k], table[districts + k]);
    }
}
