// In how many ways queens stand on a board without meeting: `queens SIZE`, three or more.
#include <cstdio>
#include <cstdlib>

// How many ways there are below rows whose queens hold these columns and diagonals.
__device__ unsigned long long below(unsigned column, unsigned left, unsigned right, unsigned all) {
    if (column == all) return 1;
    unsigned c[32], l[32], r[32], open[32];
    unsigned long long ways = 0;
    int row = 0;
    c[0] = column, l[0] = left, r[0] = right, open[0] = all & ~(column | left | right);
    while (row >= 0) {
        unsigned bit = open[row] & -open[row];
        if (!bit) {
            --row;
            continue;
        }
        open[row] ^= bit;
        if ((c[row] | bit) == all) {
            ++ways;
            continue;
        }
        c[row + 1] = c[row] | bit, l[row + 1] = (l[row] | bit) << 1, r[row + 1] = (r[row] | bit) >> 1;
        ++row;
        open[row] = all & ~(c[row] | l[row] | r[row]);
    }
    return ways;
}

__device__ unsigned long long from(int i, int n) {
    unsigned column = 0, left = 0, right = 0;
    for (int k = 0, e = i; k < 3; ++k, e /= n) {
        unsigned bit = 1u << e % n;
        if (bit & (column | left | right)) return 0;
        column |= bit, left = (left | bit) << 1, right = (right | bit) >> 1;
    }
    return below(column, left, right, (1u << n) - 1);
}

__global__ void solve(unsigned long long* ways, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long mine = i < n * n * n ? from(i, n) : 0;
    for (int d = 16; d; d /= 2) mine += __shfl_down_sync(0xffffffffu, mine, d);
    if (threadIdx.x % 32 == 0 && mine) atomicAdd(ways, mine);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8;
    unsigned long long *ways, found = 0;
    cudaMalloc(&ways, sizeof(*ways));
    cudaMemset(ways, 0, sizeof(*ways));
    solve<<<(n * n * n + 63) / 64, 64>>>(ways, n);
    cudaMemcpy(&found, ways, sizeof(found), cudaMemcpyDeviceToHost);
    printf("%d queens: %llu ways\n", n, found);
    cudaFree(ways);
    return 0;
}
