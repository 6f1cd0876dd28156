// The edges between vertices of different labels, in any order; a warp takes places for all that it found.
__global__ void cutedges(const int* u, const int* v, const int* label, int* out, int* count, int m) {
    int lane = threadIdx.x % 32;
    for (int first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < m; first += gridDim.x * blockDim.x) {
        int e = first + lane;
        bool cut = e < m && label[u[e]] != label[v[e]];
        unsigned all = __ballot_sync(0xffffffffu, cut);
        int to = 0;
        if (lane == 0 && all) to = atomicAdd(count, __popc(all));
        to = __shfl_sync(0xffffffffu, to, 0);
        if (cut) out[to + __popc(all & (1u << lane) - 1)] = e;
    }
}
