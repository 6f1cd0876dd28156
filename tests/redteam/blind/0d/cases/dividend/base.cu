// Every owner's share of a pool, rounded down: pool * stake / (sum of the row's stakes). One block a row; 0 where nobody has a stake.

__global__ void dividend(const unsigned* pool, const unsigned* stake, unsigned* share, int rows, int n)
{
    __shared__ unsigned long long sums[256];
    int row = blockIdx.x, t = threadIdx.x;
    if (row >= rows) return;
    const unsigned* s = stake + (long long)row * n;
    unsigned long long sum = 0;
    for (int i = t; i < n; i += 256) sum += s[i];
    sums[t] = sum;
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    unsigned long long total = sums[0];
    for (int i = t; i < n; i += 256) {
        unsigned long long product = (unsigned long long)pool[row] * s[i];
        share[(long long)row * n + i] = total ? (unsigned)(product / total) : 0u;
    }
}
