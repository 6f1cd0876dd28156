// Sums of all elements before each one, two a thread, up and down a tree with gaps between banks.
#define BLOCK 256
#define GAPS(k) ((k) >> 5)

__global__ void gapped_scan(const float *x, float *y, int n)
{
    __shared__ float s[2 * BLOCK + 2 * BLOCK / 32];
    int t = threadIdx.x, first = 2 * BLOCK * blockIdx.x;
    int low = t, high = t + BLOCK;
    s[low + GAPS(low)] = first + low < n ? x[first + low] : 0;
    s[high + GAPS(high)] = first + high < n ? x[first + high] : 0;
    int reach = 1;
    for (int d = BLOCK; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = reach * (2 * t + 1) - 1;
            int b = reach * (2 * t + 2) - 1;
            a += GAPS(a);
            b += GAPS(b);
            s[b] += s[a];
        }
        reach *= 2;
    }
    if (t == 0) s[2 * BLOCK - 1 + GAPS(2 * BLOCK - 1)] = 0;
    for (int d = 1; d < 2 * BLOCK; d *= 2) {
        reach >>= 1;
        __syncthreads();
        if (t < d) {
            int a = reach * (2 * t + 1) - 1;
            int b = reach * (2 * t + 2) - 1;
            a += GAPS(a);
            b += GAPS(b);
            float v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    if (first + low < n) y[first + low] = s[low + GAPS(low)];
    if (first + high < n) y[first + high] = s[high + GAPS(high)];
}

void scan(const float *x, float *y, int n)
{
    gapped_scan<<<(n + 2 * BLOCK - 1) / (2 * BLOCK), BLOCK>>>(x, y, n);
}
