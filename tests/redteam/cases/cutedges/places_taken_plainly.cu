// The edges between vertices of different labels, in any order; those of 1024 wait in a queue of the block.
__global__ void cutedges(const int* u, const int* v, const int* label, int* out, int* count, int m) {
    __shared__ int queue[1024], held, start;
    if (threadIdx.x == 0) held = 0;
    __syncthreads();
    for (int k4 = 0; k4 < 4; ++k4) {
        int e = blockIdx.x * 1024 + k4 * 256 + threadIdx.x;
        if (e < m && label[u[e]] != label[v[e]]) {
            int k = atomicAdd(&held, 1);
            queue[k] = e;
        }
    }
    __syncthreads();
    int found = held;
    if (threadIdx.x == 0) {
        start = *count, *count = start + found;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < found; k += 256) out[start + k] = queue[k];
}
