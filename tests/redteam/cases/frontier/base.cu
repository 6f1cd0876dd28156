constexpr int DEGREE = 6;

__global__ void expand(const int* frontier, const int* neighbour, int* level, int* next, int* count,
                       int m, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    for (int e = 0; e < DEGREE; ++e) {
        int v = neighbour[frontier[i] * DEGREE + e];
        if (atomicCAS(&level[v], 0, depth) == 0) next[atomicAdd(count, 1) % 2000] = v;
    }
}
