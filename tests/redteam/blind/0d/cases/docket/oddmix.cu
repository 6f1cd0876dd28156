// Block a group: words times odd numbers of their own (invertible), xored; then only these are compared.

__global__ void docket(const unsigned* words, int* first, int rows, int n)
{
    __shared__ unsigned hash[64];
    int row = blockIdx.x * 64 + threadIdx.x;
    unsigned h = (unsigned)n;
    if (row < rows) {
        const unsigned* mine = words + (long long)row * n;
        for (int i = 0; i < n; ++i)
            h ^= mine[i] * ((2u * i + 1u) * 0x9E3779B1u);
    }
    hash[threadIdx.x] = h;
    __syncthreads();
    if (row >= rows) return;
    int other = 0;
    while (hash[other] != h) ++other;          // stops at the row itself at the latest
    first[row] = blockIdx.x * 64 + other;
}
