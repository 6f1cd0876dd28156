// Hirsch's index of each author, the largest h so that h papers have at least h citations each, and what these
// papers have beyond h times h. An author has the first papers[row] of a row of n.
#define THREADS 128

__device__ int block_sum(int v, int* parts)
{
    v = __reduce_add_sync(0xffffffffu, v);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = v;
    __syncthreads();
    int sum = 0;
    for (int w = 0; w < THREADS / 32; ++w)
        sum += parts[w];
    return sum;
}

__global__ void hirsch(const int* __restrict__ cites, const int* __restrict__ papers, int* __restrict__ index,
                       int* __restrict__ excess, int rows, int n)
{
    __shared__ int parts[THREADS / 32];
    const int row = blockIdx.x;
    if (row >= rows)
        return;
    const int* mine = cites + (long long)row * n;
    const int count = papers[row];
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        int with = 0;
        for (int begin = 0; begin < count && with < middle; begin += THREADS) {     // that many are enough
            const int i = begin + threadIdx.x;
            with += __syncthreads_count(i < count && mine[i] >= middle);
        }
        if (with >= middle) {     // more than that many have no more citations than that
            low = middle;
            high = min(high, with);
        } else {
            low = max(low, with);
            high = middle - 1;
        }
    }
    int beyond = 0;
    for (int i = threadIdx.x; i < count; i += THREADS)
        beyond += max(0, mine[i] - low);
    beyond = block_sum(beyond, parts);
    if (threadIdx.x == 0) {
        index[row] = low;
        excess[row] = beyond;
    }
}
