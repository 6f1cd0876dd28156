// Inversions of each row: pairs of places whose numbers are in falling order.
__global__ void inversions(const int* x, long long* out, int n)
{
    __shared__ int tile[128];
    const int* a = x + (long long)blockIdx.x * n;
    int tid = threadIdx.x;
    long long count = 0;
    for (int first = 0; first < n; first += 128) {
        int i = first + tid;
        int v = i < n ? a[i] : 0;
        for (int from = first; from < n; from += 128) {
            int j = from + tid;
            tile[tid] = j < n ? a[j] : 0x7fffffff;
            __syncthreads();
            if (i < n)
                for (int k = 0; k < 128; k++)
                    count += from + k > i && tile[k] < v;
            if (from + 128 < n || first + 128 < n) __syncthreads();
        }
    }
    tile[tid] = (int)count;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (tid < d) tile[tid] += tile[tid + d];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = tile[0];
}
