// How deep each node of a tree lies, and what it weighs with all above it. Node 0 is the root; what is above
// another one has a lower number.
__global__ void yggdrasil(const int* up, const int* weight, int* depth, long long* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long all = weight[0];
    int steps = 0;
    for (int j = i; j > 0; j = up[j] % j) {
        all += weight[j];
        ++steps;
    }
    depth[i] = steps;
    sum[i] = all;
}
