// As a matrix product: |a - b|^2 = |a|^2 + |b|^2 - 2ab, tiles of 32 words of the group's rows in shared memory.

__global__ void docket(const unsigned* words, int* first, int rows, int n)
{
    __shared__ unsigned tile[64][33];
    __shared__ unsigned norm[64];
    int t = threadIdx.x, start = blockIdx.x * 64, row = start + t;
    unsigned dot[64], own = 0;
    for (int k = 0; k < 64; ++k) dot[k] = 0;
    for (int base = 0; base < n; base += 32) {
        for (int i = t; i < 64 * 32; i += 64) {
            int r = start + i / 32, c = base + i % 32;
            tile[i / 32][i % 32] = r < rows && c < n ? words[(long long)r * n + c] : 0u;
        }
        __syncthreads();
        for (int c = 0; c < 32; ++c) {
            unsigned x = tile[t][c];
            own += x * x;
            for (int k = 0; k < 64; ++k) dot[k] += x * tile[k][c];
        }
        __syncthreads();
    }
    norm[t] = own;
    __syncthreads();
    if (row >= rows) return;
    int found = t;
    for (int k = 63; k >= 0; --k)
        if (k < t && norm[k] + own - 2 * dot[k] == 0) found = k;
    first[row] = start + found;
}
