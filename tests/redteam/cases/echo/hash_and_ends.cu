// The longest proper part at the start of a text of n letters (0 to 3) that is its end as well: its length.
// the first and the last 24 letters of a start of this length
__device__ bool ends_agree(const int* s, int n, int l)
{
    bool same = true;
    for (int k = 0; k < 24 && k < l; ++k) same &= s[k] == s[n - l + k] && s[l - 1 - k] == s[n - 1 - k];
    return same;
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
        start = start * 1000003u + s[l - 1] ;
        end += power * (s[n - l] );
        power *= 1000003u;
        if (start == end && ends_agree(s, n, l)) length = l;
    }
    border[t] = length;
}
