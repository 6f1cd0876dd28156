// The sum of what trees say of a row. At each node it goes left where its feature is below the node's cut, and right where
// it is not, or where it is missing (NaN); the nodes of a tree lie level after level, its leaves behind them.
__global__ void forest(const float* x, const int* feature, const float* cut, const float* leaf, float* out, int n, int d,
                       int trees, int nodes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.f;
    for (int tree = 0; tree < trees; ++tree) {
        int k = 0;
        while (k < nodes) {
            float v = x[(size_t)i * d + feature[(size_t)tree * nodes + k] % d];
            k = v < cut[(size_t)tree * nodes + k] ? 2 * k + 1 : 2 * k + 2;
        }
        sum += leaf[(size_t)tree * (nodes + 1) + k - nodes];
    }
    out[i] = sum;
}
