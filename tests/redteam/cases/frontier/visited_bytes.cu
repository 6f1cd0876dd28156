constexpr int DEGREE = 6;

__global__ void expand(const int* frontier, const int* neighbour, int* level, int* next, int* count,
                       int m, int depth) {
    __shared__ unsigned char seen[2000];
    for (int v = threadIdx.x; v < 2000; v += blockDim.x) seen[v] = level[v] != 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    for (int e = 0; e < DEGREE; ++e) {
        int v = neighbour[frontier[i] * DEGREE + e];
        if (seen[v]) continue;
        seen[v] = 1;
        level[v] = depth;
        next[atomicAdd(count, 1) % 2000] = v;
    }
}
