// Which open cells of each tile of 32 by 32 water reaches that stands on its upper border, through cells that
// touch by a side.
__global__ void quagmire(const unsigned char* cell, unsigned char* reached, int w, int h) {
    __shared__ unsigned char wet[34][34];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    bool inside = x < w && y < h;
    bool open = inside && cell[(size_t)y * w + x] < 154;
    for (int k = ty * 32 + tx; k < 34 * 34; k += 1024) (&wet[0][0])[k] = 0;
    __syncthreads();
    if (ty == 0) wet[1][tx + 1] = open;
    __syncthreads();
    while (true) {
        bool near = wet[ty][tx + 1] || wet[ty + 2][tx + 1] || wet[ty + 1][tx] || wet[ty + 1][tx + 2];
        bool more = open && near && !wet[ty + 1][tx + 1];
        if (!__syncthreads_or(more)) break;
        if (more) wet[ty + 1][tx + 1] = 1;
        __syncthreads();
    }
    if (inside) reached[(size_t)y * w + x] = wet[ty + 1][tx + 1];
}
