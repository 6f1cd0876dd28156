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
    __shared__ unsigned words[THREADS / 32];
    const int row = blockIdx.x;
    if (row >= rows)
        return;
    const int* mine = cites + (long long)row * n;
    const int count = papers[row];
    int low = 0, high = count;
    while (low < high) {
        // four limits at once, their counts side by side in a word
        int limits[4];
        for (int k = 0; k < 4; ++k)
            limits[k] = low + ((high - low) * (k + 1) + 3) / 4;
        unsigned with = 0;
        for (int i = threadIdx.x; i < count; i += THREADS)
            for (int k = 0; k < 4; ++k)
                with += (unsigned)(mine[i] >= limits[k]) << 8 * k;
        with = __reduce_add_sync(0xffffffffu, with);
        __syncthreads();
        if (threadIdx.x % 32 == 0)
            words[threadIdx.x / 32] = with;
        __syncthreads();
        int next = limits[0] - 1;
        for (int k = 0; k < 4; ++k) {
            int sum = 0;
            for (int w = 0; w < THREADS / 32; ++w)
                sum += words[w] >> 8 * k & 255u;
            if (sum >= limits[k]) {
                low = limits[k];
                next = k < 3 ? limits[k + 1] - 1 : limits[k];
            }
        }
        high = max(low, next);
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
