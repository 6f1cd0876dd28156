// The paths of the first 1024 nodes are doubled in shared memory; all others climb until they come to one of these.
__global__ void yggdrasil(const int* up, const int* weight, int* depth, long long* sum, int n) {
    __shared__ int parent[1024], steps[1024];
    __shared__ long long all[1024];
    int t = threadIdx.x;
    parent[t] = t > 0 && t < n ? up[t] % t : 0;
    steps[t] = t > 0;
    all[t] = t > 0 && t < n ? weight[t] : 0;
    for (int round = 0; round < 8; ++round) {
        __syncthreads();
        int p = parent[t], further = parent[p], more = steps[p];
        long long heavier = all[p];
        __syncthreads();
        parent[t] = further;
        steps[t] += more;
        all[t] += heavier;
    }
    __syncthreads();
    long long root = weight[0];
    for (long long i = (long long)blockIdx.x * 1024 + t; i < n; i += (long long)gridDim.x * 1024) {
        long long own = root;
        int taken = 0, j = i;
        for (; j >= 1024; j = up[j] % j) {
            own += weight[j];
            ++taken;
        }
        depth[i] = taken + steps[j];
        sum[i] = own + all[j];
    }
}
