// Inversions of each row: pairs of places whose numbers are in falling order.
__global__ void inversions(const int* x, long long* out, int n)
{
    __shared__ int total;
    const int* a = x + (long long)blockIdx.x * n;
    int tid = threadIdx.x;
    if (tid == 0) total = 0;
    int count = 0;
    for (int i = tid; i < n; i += 128) {
        int v = a[i];
        for (int j = i + 1; j < n; j++) count += a[j] < v;
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if ((tid & 31) == 0) atomicAdd(&total, count);
    __syncthreads();
    if (tid == 0) out[blockIdx.x] = total;
}
