// Where two walks towards the root of a tree meet, and how many steps they take together.
__global__ void lca(const int* up, const int* a, const int* b, int* meet, int* steps, int n, int q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= q) return;
    int x = a[i], y = b[i];
    int s = 0;
    while (x != y) {
        if (x < y) { int t = x; x = y; y = t; }
        int p = up[x] % x;
        s++;
        if (p > y) {
            p = up[p] % p;
            s++;
        }
        x = p;
    }
    meet[i] = x;
    steps[i] = s;
}
