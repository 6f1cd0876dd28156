__global__ void lca(const int* up, const int* a, const int* b, int* meet, int* steps, int n, int q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = i < q;
    int x = in ? a[i] : 0, y = in ? b[i] : 0;
    unsigned word = (unsigned)x * (unsigned)n + (unsigned)y;
    unsigned before = __shfl_up_sync(0xffffffffu, word, 1);
    int lane = threadIdx.x & 31;
    bool same = in && lane > 0 && before == word;
    unsigned heads = ~__ballot_sync(0xffffffffu, same);
    int s = 0;
    if (in && !same) {
        while (x != y) {
            if (x > y) x = up[x] % x;
            else y = up[y] % y;
            s++;
        }
    }
    int from = 31 - __clz(heads & (0xffffffffu >> (31 - lane)));
    x = __shfl_sync(0xffffffffu, x, from);
    s = __shfl_sync(0xffffffffu, s, from);
    if (in) {
        meet[i] = x;
        steps[i] = s;
    }
}
