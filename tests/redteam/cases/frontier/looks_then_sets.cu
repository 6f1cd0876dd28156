constexpr int DEGREE = 6;

__global__ void expand(const int* frontier, const int* neighbour, int* level, int* next, int* count,
                       int m, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    for (int e = 0; e < DEGREE; ++e) {
        int v = neighbour[frontier[i] * DEGREE + e];
        if (((volatile int*)level)[v] == 0) {
            ((volatile int*)level)[v] = depth;
            next[atomicAdd(count, 1) % 2000] = v;
        }
    }
}
