__global__ void lca(const int* up, const int* a, const int* b, int* meet, int* steps, int n, int q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ unsigned short first[4096];
    int m = min(n, 4096);
    for (int v = threadIdx.x + 1; v < m; v += blockDim.x) first[v] = up[v] % v;
    __syncthreads();
    if (i >= q) return;
    int x = a[i], y = b[i];
    int s = 0;
    while (x != y) {
        if (x < y) { int t = x; x = y; y = t; }
        x = x < 4096 ? first[x] : up[x] % x;
        s++;
    }
    meet[i] = x;
    steps[i] = s;
}
