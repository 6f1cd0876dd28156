// Siteswap patterns of n throws (0 to 35): the first throw that lands on the beat of an earlier one, or -1,
// and the number of balls of a pattern without such a throw (0 of others).
__global__ void juggle(const int* __restrict__ throws, int* __restrict__ clash, int* __restrict__ balls,
                       int patterns, int n)
{
    extern __shared__ int first[];
    __shared__ int at, sum;
    __shared__ int wrong;
    unsigned* word = (unsigned*)first;    // eight beats a word
    const int* a = throws + (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) first[i] = 0;
    if (threadIdx.x == 0) {
        at = n;
        sum = 0;
        wrong = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int l = (i + a[i]) % n;
        atomicAdd(&word[l / 8], 1u << l % 8 * 4);
        atomicAdd(&sum, a[i]);
    }
    __syncthreads();
    for (int w = threadIdx.x; w < (n + 7) / 8; w += blockDim.x) {
        unsigned full = n - w * 8 < 8 ? 0x11111111u >> (8 - (n - w * 8)) * 4 : 0x11111111u;
        if (word[w] != full) wrong = 1;
    }
    __syncthreads();
    if (!wrong) {    // every beat once
        if (threadIdx.x == 0) {
            clash[blockIdx.x] = -1;
            balls[blockIdx.x] = sum / n;
        }
        return;
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) first[i] = n;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicMin(&first[(i + a[i]) % n], i);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (first[(i + a[i]) % n] != i) atomicMin(&at, i);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        clash[blockIdx.x] = at < n ? at : -1;
        balls[blockIdx.x] = at < n ? 0 : sum / n;
    }
}
