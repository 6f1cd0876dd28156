// How much has to be moved how far to make one histogram of the other, for each pair of rows. A block a
// pair, 256 bins at a time.
__global__ void emd(const int* a, const int* b, long long* out, int rows, int bins) {
    __shared__ long long part[8], before;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int *p = a + (size_t)blockIdx.x * bins, *q = b + (size_t)blockIdx.x * bins;
    long long sum = 0;
    if (t == 0) before = 0;
    for (int first = 0; first < bins; first += 256) {
        int k = first + t;
        long long over = k < bins ? (long long)p[k] - q[k] : 0;
        for (int d = 1; d < 32; d *= 2) {
            long long left = __shfl_up_sync(0xffffffffu, over, d);
            if (lane >= d) over += left;
        }
        if (lane == 31) part[warp] = over;
        __syncthreads();
        over += before;
        for (int w = 0; w < warp; ++w) over += part[w];
        if (k < bins) sum += over < 0 ? -over : over;
        if (t == 255) before = over;
        __syncthreads();
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 8; ++w) sum += part[w];
        out[blockIdx.x] = sum;
    }
}
