// Row i shows entry ref[i] % d of a dictionary of d entries of w bytes. Rows are cut into buckets of 64, and leader[i] is
// the first row of i's bucket that shows the same bytes.
extern "C" __global__ void bucketdup(const unsigned char* dict, const int* ref, int* leader, int n, int d, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* mine = dict + (size_t)(ref[i] % d) * w;
    int j = i / 64 * 64;
    for (; j < i; ++j) {
        const unsigned char* other = dict + (size_t)(ref[j] % d) * w;
        int b = 0;
        while (b < w && mine[b] == other[b]) ++b;
        if (b == w) break;
    }
    leader[i] = j;
}
