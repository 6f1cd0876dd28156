// Electoral districts on a grid: how many cells each has, and how long its boundary is in cell edges
// (edges to cells of other districts and to the map's border). Added to what is there.
__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int* at = label + (long long)y * w + x;
    int own = *at;
    int e = 0;
    if (x == 0 || at[-1] != own) ++e;
    if (x == w - 1 || at[1] != own) ++e;
    if (y == 0 || at[-w] != own) ++e;
    if (y == h - 1 || at[w] != own) ++e;
    atomicAdd(&area[own], 1);
    if (e) atomicAdd(&edge[own], e);
}
