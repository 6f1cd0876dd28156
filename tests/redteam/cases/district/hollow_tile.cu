// A tile that lies within one district adds its cells at once.
__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    int x0 = blockIdx.x * blockDim.x, y0 = blockIdx.y * blockDim.y;
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    bool inside = x < w && y < h;
    const int* at = label + (long long)y * w + x;
    int first = label[(long long)y0 * w + x0];
    int own = first, e = 0;
    bool ring = threadIdx.x == 0 || threadIdx.x == blockDim.x - 1 || threadIdx.y == 0 || threadIdx.y == blockDim.y - 1;
    if (inside && ring) {
        own = *at;
        e = (x == 0 || at[-1] != own) + (x == w - 1 || at[1] != own) + (y == 0 || at[-w] != own) +
            (y == h - 1 || at[w] != own);
    }
    bool mixed = __syncthreads_or(!inside || own != first || e != 0);
    if (!mixed) {
        if (threadIdx.x + threadIdx.y == 0) atomicAdd(&area[first], (int)(blockDim.x * blockDim.y));
        return;
    }
    if (!inside) return;
    if (!ring) {
        own = *at;
        e = (at[-1] != own) + (x == w - 1 || at[1] != own) + (at[-w] != own) + (y == h - 1 || at[w] != own);
    }
    atomicAdd(&area[own], 1);
    if (e) atomicAdd(&edge[own], e);
}
