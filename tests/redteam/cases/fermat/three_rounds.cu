// 1 for every prime among x, 0 for all other numbers (below 2^31).
__device__ unsigned power(unsigned base, unsigned e, unsigned n)
{
    unsigned long long r = 1, b = base % n;
    for (; e; e >>= 1) {
        if (e & 1) r = r * b % n;
        b = b * b % n;
    }
    return (unsigned)r;
}

__device__ bool passes(unsigned n, unsigned a)
{
    unsigned d = n - 1, s = 0;
    while (!(d & 1)) { d >>= 1; ++s; }
    unsigned long long y = power(a, d, n);
    if (y == 1 || y == n - 1) return true;
    for (unsigned r = 1; r < s; ++r) {
        y = y * y % n;
        if (y == n - 1) return true;
    }
    return false;
}

__global__ void fermat(const int* __restrict__ x, int* __restrict__ prime, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned n = (unsigned)x[i];
    const unsigned bases[4] = {2, 3, 5, 7};
    int yes = n > 1;
    for (int k = 0; k < 4 && yes; ++k) {
        if (n % bases[k] == 0) yes = n == bases[k];
    }
    if (yes && n > 7) {
        for (int k = 0; k < 3 && yes; ++k) yes = passes(n, bases[k]);
    }
    prime[i] = yes;
}
