// Inversions of each row: pairs of places whose numbers are in falling order.
__global__ void inversions(const int* x, long long* out, int n)
{
    __shared__ unsigned tile[128];
    __shared__ long long part[128];
    const int* a = x + (long long)blockIdx.x * n;
    int tid = threadIdx.x;
    long long count = 0;
    for (int first = 0; first < n; first += 128) {
        int i = first + tid;
        unsigned v = i < n ? (unsigned)a[i] << 16 : 0u;
        for (int from = first; from < n; from += 128) {
            int j = from + tid;
            tile[tid] = j < n ? (unsigned)a[j] << 16 | (unsigned)(j & 0xffff) : 0xffffffffu;
            __syncthreads();
            if (i < n)
                for (int k = 0; k < 128; k++)
                    count += (int)(tile[k] & 0xffffu) > i && tile[k] < v;
            __syncthreads();
        }
    }
    part[tid] = count;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (tid < d) part[tid] += part[tid + d];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = part[0];
}
