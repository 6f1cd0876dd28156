// Pairwise wins of an election: on how many of the v ballots candidate i is ranked before candidate j.
// rank[c * v + b] is the place that ballot b gives to candidate c; equal places win for neither.
// One block per pair; where rows begin at whole words, sixteen ballots per load, compared four at a time.
extern "C" __global__ void copeland(const unsigned char* rank, int* wins, int v, int m)
{
    __shared__ int part[4];
    int i = blockIdx.y;
    int j = blockIdx.x;
    const unsigned char* mine = rank + i * v;
    const unsigned char* theirs = rank + j * v;

    int count = 0;
    int done = 0;
    if ((v & 3) == 0) {
        const uint4* mine16 = reinterpret_cast<const uint4*>(mine);
        const uint4* theirs16 = reinterpret_cast<const uint4*>(theirs);
        for (int k = threadIdx.x; k < v >> 4; k += blockDim.x) {
            uint4 p = mine16[k];
            uint4 q = theirs16[k];
            count += __popc(__vsetltu4(p.x, q.x)) + __popc(__vsetltu4(p.y, q.y))
                   + __popc(__vsetltu4(p.z, q.z)) + __popc(__vsetltu4(p.w, q.w));
        }
        done = v & ~15;
    }
    for (int b = done + threadIdx.x; b < v; b += blockDim.x)
        count += mine[b] < theirs[b] ? 1 : 0;

    count = __reduce_add_sync(0xffffffffu, count);
    if ((threadIdx.x & 31) == 0)
        part[threadIdx.x >> 5] = count;
    __syncthreads();
    if (threadIdx.x == 0)
        wins[i * m + j] = part[0] + part[1] + part[2] + part[3];
}
