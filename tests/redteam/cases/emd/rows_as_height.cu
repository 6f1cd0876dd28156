// How much has to be moved how far to make one histogram of the other, for each pair of rows. A warp a
// pair, 32 bins at a time.
__global__ void emd(const int* a, const int* b, long long* out, int rows, int bins) {
    int r = blockIdx.y, lane = threadIdx.x;
    const int *p = a + (size_t)r * bins, *q = b + (size_t)r * bins;
    long long before = 0, sum = 0;
    for (int first = 0; first < bins; first += 32) {
        int k = first + lane;
        long long over = k < bins ? (long long)p[k] - q[k] : 0;
        for (int d = 1; d < 32; d *= 2) {
            long long left = __shfl_up_sync(0xffffffffu, over, d);
            if (lane >= d) over += left;
        }
        over += before;
        if (k < bins) sum += over < 0 ? -over : over;
        before = __shfl_sync(0xffffffffu, over, 31);
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = sum;
}
