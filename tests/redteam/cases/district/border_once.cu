__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int* at = label + (long long)y * w + x;
    int own = *at;
    // a cell beyond the border is never alike: the neighbours are read where the cell itself is then
    int left = at[x > 0 ? -1 : 0], right = at[x < w - 1 ? 1 : 0];
    int above = at[y > 0 ? -w : 0], below = at[y < h - 1 ? w : 0];
    int e = (left != own) + (right != own) + (above != own) + (below != own);
    e += (x == 0 || x == w - 1) + (y == 0 || y == h - 1);
    atomicAdd(&area[own], 1);
    if (e) atomicAdd(&edge[own], e);
}
