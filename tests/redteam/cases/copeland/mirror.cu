// Pairwise wins of an election: on how many of the v ballots candidate i is ranked before candidate j.
// rank[c * v + b] is the place that ballot b gives to candidate c; equal places win for neither.
// Each pair is counted once, in both directions; the blocks of the lower triangle have nothing to do.
extern "C" __global__ void copeland(const unsigned char* rank, int* wins, int v, int m)
{
    __shared__ int part[4][2];
    int i = blockIdx.y;
    int j = blockIdx.x;
    if (i > j)
        return;
    if (i == j) {
        if (threadIdx.x == 0)
            wins[i * m + i] = 0;                     // nobody beats himself
        return;
    }
    const unsigned char* mine = rank + i * v;
    const unsigned char* theirs = rank + j * v;

    int won = 0, drawn = 0;
    for (int b = threadIdx.x; b < v; b += blockDim.x) {
        won += mine[b] < theirs[b] ? 1 : 0;
        drawn += mine[b] == theirs[b] ? 1 : 0;
    }
    won = __reduce_add_sync(0xffffffffu, won);
    drawn = __reduce_add_sync(0xffffffffu, drawn);
    if ((threadIdx.x & 31) == 0) {
        part[threadIdx.x >> 5][0] = won;
        part[threadIdx.x >> 5][1] = drawn;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        won = part[0][0] + part[1][0] + part[2][0] + part[3][0];
        drawn = part[0][1] + part[1][1] + part[2][1] + part[3][1];
        wins[i * m + j] = won;
        wins[j * m + i] = v - won - drawn;
    }
}
