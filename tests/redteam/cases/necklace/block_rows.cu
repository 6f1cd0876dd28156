// least rotation by all threads of a block
__device__ bool before(const unsigned char* w, int n, int i, int j)
{
    if (i < 0 || j < 0) return j < 0 && i >= 0;
    int p = i, q = j;
    for (int k = 0; k < n; k++) {
        if (w[p] != w[q]) return w[p] < w[q];
        if (++p == n) p = 0;
        if (++q == n) q = 0;
    }
    return i < j;
}
__global__ void necklace(const unsigned char* s, int* start, int rows, int n)
{
    __shared__ int best[128];
    int r = blockIdx.x, t = threadIdx.x;
    const unsigned char* w = s + (long long)r * n;
    int b = -1;
    for (int i = t; i < n; i += 128)
        if (before(w, n, i, b)) b = i;
    best[t] = b;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d && before(w, n, best[t + d], best[t])) best[t] = best[t + d];
        __syncthreads();
    }
    if (t == 0) start[r] = best[0];
}
