__global__ void lca(const int* up, const int* a, const int* b, int* meet, int* steps, int n, int q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= q) return;
    int x = a[i], y = b[i];
    int path[128];
    int m = 0;
    for (int v = x; m < 128; v = up[v] % v) {
        path[m++] = v;
        if (v == 0) break;
    }
    int k = 0, t = 0;
    while (true) {
        while (k < m - 1 && path[k] > y) k++;
        if (path[k] >= y || y == 0) break;
        y = up[y] % y;
        t++;
    }
    meet[i] = y;
    steps[i] = k + t;
}
