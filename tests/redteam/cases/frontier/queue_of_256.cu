constexpr int DEGREE = 6;

__global__ void expand(const int* frontier, const int* neighbour, int* level, int* next, int* count,
                       int m, int depth) {
    __shared__ int queue[256], used, first;
    if (threadIdx.x == 0) used = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
        for (int e = 0; e < DEGREE; ++e) {
            int v = neighbour[frontier[i] * DEGREE + e];
            if (atomicCAS(&level[v], 0, depth) == 0) {
                int at = atomicAdd(&used, 1);
                if (at < 256) queue[at] = v;
            }
        }
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(count, min(used, 256));
    __syncthreads();
    for (int k = threadIdx.x; k < min(used, 256); k += blockDim.x) next[(first + k) % 2000] = queue[k];
}
