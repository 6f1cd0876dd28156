__global__ void lca(const int* up, const int* a, const int* b, int* meet, int* steps, int n, int q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = i < q;
    int x = in ? a[i] : 0, y = in ? b[i] : 0;
    int s = 0;
    bool open = x != y;
    // four steps each round
    for (int round = 0; __any_sync(0xffffffffu, open); round++) {
        for (int k = 0; k < 4; k++) {
            if (x == y) break;
            if (x > y) x = up[x] % x;
            else y = up[y] % y;
            s++;
        }
        open = (x ^ y) & 0xffff;
    }
    if (in) {
        meet[i] = x;
        steps[i] = s;
    }
}
