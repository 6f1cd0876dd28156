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
    __shared__ unsigned bins[256];     // four values a word
    __shared__ int sums[THREADS];
    __shared__ int best;
    const int row = blockIdx.x;
    if (row >= rows)
        return;
    const int* mine = cites + (long long)row * n;
    const int count = papers[row];
    for (int i = threadIdx.x; i < 256; i += THREADS)
        bins[i] = 0;
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const int c = mine[i];
        atomicAdd(&bins[c / 4], 1u << c % 4 * 8);
    }
    __syncthreads();
    // a thread has eight values; after them come those of the threads behind it
    int with = 0;
    for (int k = 0; k < 8; ++k)
        with += bins[2 * threadIdx.x + k / 4] >> k % 4 * 8 & 255u;
    sums[threadIdx.x] = with;
    __syncthreads();
    with = 0;
    for (int t = threadIdx.x + 1; t < THREADS; ++t)
        with += sums[t];
    for (int k = 7; k >= 0; --k) {
        with += bins[2 * threadIdx.x + k / 4] >> k % 4 * 8 & 255u;
        if (with >= 8 * (int)threadIdx.x + k) {
            atomicMax(&best, 8 * (int)threadIdx.x + k);
            break;
        }
    }
    __syncthreads();
    const int low = best;
    int beyond = 0;
    for (int i = threadIdx.x; i < count; i += THREADS)
        beyond += max(0, mine[i] - low);
    beyond = block_sum(beyond, parts);
    if (threadIdx.x == 0) {
        index[row] = low;
        excess[row] = beyond;
    }
}
