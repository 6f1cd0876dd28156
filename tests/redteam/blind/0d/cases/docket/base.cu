// Repeated records: within every group of 64 rows, the first row with the same words as this one (itself if there is none).

__global__ void docket(const unsigned* words, int* first, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* mine = words + (long long)row * n;
    int found = row;
    for (int other = row / 64 * 64; other < row; ++other) {
        const unsigned* his = words + (long long)other * n;
        int i = 0;
        while (i < n && his[i] == mine[i]) ++i;
        if (i == n) {
            found = other;
            break;
        }
    }
    first[row] = found;
}
