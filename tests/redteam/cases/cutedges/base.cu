// The edges between vertices of different labels, in any order.
__global__ void cutedges(const int* u, const int* v, const int* label, int* out, int* count, int m) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m && label[u[e]] != label[v[e]]) out[atomicAdd(count, 1)] = e;
}
