// The longest proper part at the start of a text of n letters (0 to 3) that is its end as well: its length.
__global__ void echo(const int* __restrict__ letters, int* __restrict__ border, int texts, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= texts) return;
    const int* s = letters + (size_t)t * n;
    // letters, places and squares of places of each letter: the same for the start and for the end
    unsigned long long d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    unsigned long long e0 = 0, e1 = 0, e2 = 0, e3 = 0;
    int length = 0;
    for (int l = 1; l < n; ++l) {
        // the end grows at its front: all its places move by one
        unsigned long long a = s[l - 1] * s[l - 1] * 5 + s[l - 1], b = s[n - l] * s[n - l] * 5 + s[n - l], p = l - 1;
        e3 += 3 * e2 + 3 * e1 + e0;
        e2 += 2 * e1 + e0;
        e1 += e0;
        e0 += b;
        d0 += a;
        d1 += a * p;
        d2 += a * p * p;
        d3 += a * p * p * p;
        if (d0 == e0 && d1 == e1 && d2 == e2 && d3 == e3 && s[0] == s[n - l] && s[l - 1] == s[n - 1]) length = l;
    }
    border[t] = length;
}
