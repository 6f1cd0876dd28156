// Block a group: rotate-and-xor hash of each row, then only hashes are compared.

__global__ void docket(const unsigned* words, int* first, int rows, int n)
{
    __shared__ unsigned hash[64];
    int row = blockIdx.x * 64 + threadIdx.x;
    unsigned h = 0x9E3779B9u;
    if (row < rows) {
        const unsigned* mine = words + (long long)row * n;
        for (int i = 0; i < n; ++i)
            h = (h << 5 | h >> 27) ^ mine[i];
    }
    hash[threadIdx.x] = h;
    __syncthreads();
    if (row >= rows) return;
    int other = 0;
    while (hash[other] != h) ++other;          // stops at the row itself at the latest
    first[row] = blockIdx.x * 64 + other;
}
