// Siteswap patterns of n throws (0 to 35): the first throw that lands on the beat of an earlier one, or -1,
// and the number of balls of a pattern without such a throw (0 of others).
__global__ void juggle(const int* __restrict__ throws, int* __restrict__ clash, int* __restrict__ balls,
                       int patterns, int n)
{
    extern __shared__ int first[];
    __shared__ int at, sum;
    const int* a = throws + (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) first[i] = n;
    if (threadIdx.x == 0) {
        at = n;
        sum = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicMin(&first[(i + a[i]) % n], i);
        atomicAdd(&sum, a[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        // beats before the first known clash are all that matter
        if (i < atomicAdd(&at, 0) && first[(i + a[i]) % n] != i) atomicMin(&at, i);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        clash[blockIdx.x] = at < n ? at : -1;
        balls[blockIdx.x] = at < n ? 0 : sum / n;
    }
}
