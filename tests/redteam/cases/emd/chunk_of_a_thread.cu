// How much has to be moved how far to make one histogram of the other, for each pair of rows. A block a
// pair; each thread has some bins in a row, and knows what was before them when all have added theirs.
__global__ void emd(const int* a, const int* b, long long* out, int rows, int bins) {
    __shared__ long long total[128];
    __shared__ unsigned long long all;
    int t = threadIdx.x, each = (bins + 127) / 128, first = min(t * each, bins), end = min(first + each, bins);
    const int *p = a + (size_t)blockIdx.x * bins, *q = b + (size_t)blockIdx.x * bins;
    long long own = 0, over = 0, sum = 0;
    for (int k = first; k < end; ++k) own += (long long)p[k] - q[k];
    total[t] = own;
    if (t == 0) all = 0;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        long long left = t >= d ? total[t - d] : 0;
        __syncthreads();
        total[t] += left;
        __syncthreads();
    }
    over = total[t] - own;
    for (int k = first; k < end; ++k) {
        over += (long long)p[k] - q[k];
        sum += over < 0 ? -over : over;
    }
    atomicAdd(&all, (unsigned long long)sum);
    __syncthreads();
    if (t == 0) out[blockIdx.x] = (long long)all;
}
