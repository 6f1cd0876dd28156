// A thread walks 16 cells of a row and adds once for each run of one district.
__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    int from = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (from >= w || y >= h) return;
    int to = min(from + 16, w);
    const int* row = label + (long long)y * w;
    int before = from > 0 ? row[from - 1] : -1;
    int own = row[from], cells = 0, e = 0;
    for (int x = from; x < to; ++x) {
        int next = x + 1 < w ? row[x + 1] : -1;
        e += (before != own) + (next != own);
        e += y == 0 || row[x - w] != own;
        e += y == h - 1 || row[x + w] != own;
        ++cells;
        if (next != own || x + 1 == to) {
            atomicAdd(&area[own], cells);
            if (e) atomicAdd(&edge[own], e);
            cells = e = 0;
        }
        before = own;
        own = next;
    }
}
