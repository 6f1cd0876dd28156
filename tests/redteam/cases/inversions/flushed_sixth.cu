// Inversions of each row: pairs of places whose numbers are in falling order.
__global__ void inversions(const int* x, long long* out, int n)
{
    __shared__ int tile[128];
    __shared__ long long part[128];
    const int* a = x + (long long)blockIdx.x * n;
    int tid = threadIdx.x;
    long long count = 0;
    for (int first = 0; first < n; first += 768) {
        int i = first + 6 * tid;
        int v[6];
        for (int c = 0; c < 6; c++) v[c] = i + c < n ? a[i + c] : 0;
        unsigned short few = 0;
        for (int from = first; from < n; from += 128) {
            int j = from + tid;
            tile[tid] = j < n ? a[j] : 0x7fffffff;
            __syncthreads();
            for (int k = 0; k < 128; k++) {
                int w = tile[k];
                for (int c = 0; c < 6; c++) few += from + k > i + c && w < v[c];
            }
            __syncthreads();
        }
        count += few;
    }
    part[tid] = count;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (tid < d) part[tid] += part[tid + d];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = part[0];
}
