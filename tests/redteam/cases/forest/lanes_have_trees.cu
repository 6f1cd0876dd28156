// The sum of what trees say of a row. At each node it goes left where its feature is below the node's cut, and right where
// it is not, or where it is missing (NaN); the nodes of a tree lie level after level, its leaves behind them.
// A warp a row: each lane has its own trees.
__global__ void forest(const float* x, const int* feature, const float* cut, const float* leaf, float* out, int n, int d,
                       int trees, int nodes) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    const float* row = x + (size_t)i * d;
    float sum = 0.f;
    for (int tree = lane; tree < trees; tree += 32) {
        const int* of = feature + (size_t)tree * nodes;
        const float* at = cut + (size_t)tree * nodes;
        int k = 0;
        while (k < nodes) k = row[of[k] % d] < at[k] ? 2 * k + 1 : 2 * k + 2;
        sum += leaf[(size_t)tree * (nodes + 1) + k - nodes];
    }
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) out[i] = sum;
}
