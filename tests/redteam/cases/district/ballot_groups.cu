// One round for each district that a warp meets: cells by a ballot, edges by ballots of the bits of their number.
__global__ void district(const int* label, int* area, int* edge, int h, int w, int districts) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    bool inside = x < w && y < h;
    int own = -1, e = 0;
    if (inside) {
        const int* at = label + (long long)y * w + x;
        own = *at;
        e = (x == 0 || at[-1] != own) + (x == w - 1 || at[1] != own) + (y == 0 || at[-w] != own) +
            (y == h - 1 || at[w] != own);
    }
    const unsigned all = 0xffffffffu;
    unsigned b0 = __ballot_sync(all, e & 1), b1 = __ballot_sync(all, e & 2), b2 = __ballot_sync(all, e & 4);
    unsigned todo = __ballot_sync(all, inside);
    int lane = threadIdx.x & 31;
    while (todo) {
        int leader = __ffs(todo) - 1;
        int which = __shfl_sync(all, own, leader);
        unsigned same = __ballot_sync(all, own == which);
        if (lane == leader) {
            atomicAdd(&area[which], __popc(same));
            int edges = __popc(same & b0) + 2 * __popc(same & b1) + 4 * __popc(same & b2);
            if (edges) atomicAdd(&edge[which], edges);
        }
        todo &= ~same;
    }
}
