__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    extern __shared__ int2 table2[];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y;
    for (int k = t; k < districts; k += threads) table2[k] = make_int2(0, 0);
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        const int* at = label + (long long)y * w + x;
        int own = *at;
        int e = (x == 0 || at[-1] != own) + (x == w - 1 || at[1] != own) + (y == 0 || at[-w] != own) +
                (y == h - 1 || at[w] != own);
        atomicAdd(&table2[own].x, 1);
        if (e) atomicAdd(&table2[own].y, e);
    }
    __syncthreads();
    if (t < districts && table2[t].x != 0) {
        atomicAdd(&area[t], table2[t].x);
        atomicAdd(&edge[t], table2[t].y);
    }
}
