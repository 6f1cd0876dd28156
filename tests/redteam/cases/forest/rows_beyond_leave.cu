// The sum of what trees say of a row. At each node it goes left where its feature is below the node's cut, and right where
// it is not, or where it is missing (NaN); the nodes of a tree lie level after level, its leaves behind them.
// Four trees at a time lie in shared memory.
__global__ void forest(const float* x, const int* feature, const float* cut, const float* leaf, float* out, int n, int d,
                       int trees, int nodes) {
    extern __shared__ int room[];
    int* of = room;
    float *at = (float*)(room + 4 * nodes), *says = at + 4 * nodes;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.f;
    if (i >= n) return;
    for (int first = 0; first < trees; first += 4) {
        int many = min(4, trees - first);
        __syncthreads();
        for (int e = threadIdx.x; e < many * nodes; e += blockDim.x) {
            of[e] = feature[(size_t)first * nodes + e] % d;
            at[e] = cut[(size_t)first * nodes + e];
        }
        for (int e = threadIdx.x; e < many * (nodes + 1); e += blockDim.x) says[e] = leaf[(size_t)first * (nodes + 1) + e];
        __syncthreads();
            for (int tree = 0; tree < many; ++tree) {
                int k = 0;
                while (k < nodes) k = 2 * k + 2 - (x[(size_t)i * d + of[tree * nodes + k]] < at[tree * nodes + k]);
                sum += says[tree * (nodes + 1) + k - nodes];
            }
    }
    out[i] = sum;
}
