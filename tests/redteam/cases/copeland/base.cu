// Pairwise wins of an election: on how many of the v ballots candidate i is ranked before candidate j.
// rank[c * v + b] is the place that ballot b gives to candidate c; equal places win for neither.
// One block per pair.
extern "C" __global__ void copeland(const unsigned char* rank, int* wins, int v, int m)
{
    __shared__ int part[4];
    int i = blockIdx.y;
    int j = blockIdx.x;
    const unsigned char* mine = rank + i * v;
    const unsigned char* theirs = rank + j * v;

    int count = 0;
    for (int b = threadIdx.x; b < v; b += blockDim.x)
        count += mine[b] < theirs[b] ? 1 : 0;

    for (int step = 16; step > 0; step >>= 1)
        count += __shfl_down_sync(0xffffffffu, count, step);
    if ((threadIdx.x & 31) == 0)
        part[threadIdx.x >> 5] = count;
    __syncthreads();
    if (threadIdx.x == 0)
        wins[i * m + j] = part[0] + part[1] + part[2] + part[3];
}
