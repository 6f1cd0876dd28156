// The longest proper part at the start of a text of n letters (0 to 3) that is its end as well: its length.
// every letter of a start of this length
__device__ bool whole(const int* s, int n, int l)
{
    for (int k = 0; k < l; ++k) {
        if (s[k] != s[n - l + k]) return false;
    }
    return true;
}

__global__ void echo(const int* __restrict__ letters, int* __restrict__ border, int texts, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= texts) return;
    const int* s = letters + (size_t)t * n;
    // hashes of the start and of the end, a letter longer each time
    unsigned start = 0, end = 0, power = 1;
    int length = 0;
    for (int l = 1; l < n; ++l) {
        start = start * 31u + s[l - 1] + 1u;
        end += power * (s[n - l] + 1u);
        power *= 31u;
        if (start == end && whole(s, n, l)) length = l;
    }
    border[t] = length;
}
