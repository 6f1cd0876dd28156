// Inversions of each row: pairs of places whose numbers are in falling order.
__global__ void inversions(const int* x, long long* out, int n)
{
    __shared__ int tile[128];
    __shared__ long long part[128];
    const int* a = x + (long long)blockIdx.x * n;
    int tid = threadIdx.x;
    long long count = 0;
    int rises = 0, levels = 0;
    for (int i = tid; i + 1 < n; i += 128) {
        rises |= a[i] < a[i + 1];
        levels += a[i] == a[i + 1];
    }
    if (!__syncthreads_or(rises) && n > 1 && a[0] > a[n - 1]) {
        part[tid] = levels;
        __syncthreads();
        for (int d = 64; d > 0; d >>= 1) {
            if (tid < d) part[tid] += part[tid + d];
            __syncthreads();
        }
        if (tid == 0) out[blockIdx.x] = (long long)n * (n - 1) / 2 - part[0];
        return;
    }
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
