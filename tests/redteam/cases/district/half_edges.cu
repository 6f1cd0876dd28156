// Every edge between two cells is looked at once, from the left or from above, and counted for both.
__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int* at = label + (long long)y * w + x;
    int own = *at;
    int e = (x == 0) + (x == w - 1) + (y == 0) + (y == h - 1);
    if (x + 1 < w && at[1] != own) {
        ++e;
        atomicAdd(&edge[at[1]], 1);
    }
    if (y + 1 < h && at[w] != own) {
        ++e;
        atomicAdd(&edge[at[w]], 1);
    }
    atomicAdd(&area[own], 1);
    if (e) atomicAdd(&edge[own], e);
}
