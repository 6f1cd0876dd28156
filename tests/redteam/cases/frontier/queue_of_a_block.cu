constexpr int DEGREE = 6;

__global__ void expand(const int* frontier, const int* neighbour, int* level, int* next, int* count,
                       int m, int depth) {
    __shared__ int queue[64 * DEGREE], used, first;
    if (threadIdx.x == 0) used = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
        for (int e = 0; e < DEGREE; ++e) {
            int v = neighbour[frontier[i] * DEGREE + e];
            if (atomicCAS(&level[v], 0, depth) == 0) queue[atomicAdd(&used, 1)] = v;
        }
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(count, used);
    __syncthreads();
    for (int k = threadIdx.x; k < used; k += blockDim.x) next[(first + k) % 2000] = queue[k];
}
