// Cells and edges of a block's tile in one word each: one shared atomic for a cell.
__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    extern __shared__ unsigned tile[];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y;
    for (int k = t; k < districts; k += threads) tile[k] = 0;
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        const int* at = label + (long long)y * w + x;
        int own = *at;
        unsigned e = (x == 0 || at[-1] != own) + (x == w - 1 || at[1] != own) + (y == 0 || at[-w] != own) +
                     (y == h - 1 || at[w] != own);
        atomicAdd(&tile[own], e << 8 | 1u);
    }
    __syncthreads();
    for (int k = t; k < districts; k += threads) {
        unsigned both = tile[k];
        if (both == 0) continue;
        atomicAdd(&area[k], both & 255);
        atomicAdd(&edge[k], both >> 8);
    }
}
