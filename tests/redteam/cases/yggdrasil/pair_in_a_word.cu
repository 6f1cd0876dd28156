// Steps and weights are added at once: steps in the upper ten bits, weights in the others.
__global__ void yggdrasil(const int* up, const int* weight, int* depth, long long* sum, int n) {
    __shared__ unsigned pair[1024];
    int t = threadIdx.x;
    unsigned own = 0;
    for (int j = t < n ? t : 0; j > 0; j = up[j] % j) own += weight[j] + (1u << 22);
    pair[t] = own;
    __syncthreads();
    long long root = weight[0];
    for (long long i = (long long)blockIdx.x * 1024 + t; i < n; i += (long long)gridDim.x * 1024) {
        unsigned path = 0;
        int j = i;
        for (; j >= 1024; j = up[j] % j) path += weight[j] + (1u << 22);
        path += pair[j];
        depth[i] = path >> 22;
        sum[i] = root + (path & 0x3fffff);
    }
}
