__global__ void lca(const int* up, const int* a, const int* b, int* meet, int* steps, int n, int q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ unsigned short first[1024];
    int m = min(n, 1024);
    for (int v = threadIdx.x; v < m; v += blockDim.x) first[v] = v ? up[v] % v : 0;
    if (n > (int)blockDim.x) __syncthreads();
    else __syncwarp();
    if (i >= q) return;
    int x = a[i], y = b[i];
    int s = 0;
    while (x != y) {
        if (x < y) { int t = x; x = y; y = t; }
        x = x < 1024 ? first[x] : up[x] % x;
        s++;
    }
    meet[i] = x;
    steps[i] = s;
}
