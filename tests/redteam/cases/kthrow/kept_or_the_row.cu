// The k-th smallest number of each row, from zero on; the largest where there are not so many. Those with the
// first digit of it are kept in shared memory if they fit.
__global__ void kthrow(const unsigned* x, unsigned* out, int rows, int cols, int k) {
    __shared__ int have[256];
    __shared__ unsigned kept[2048];
    __shared__ int digit, before, many;
    int t = threadIdx.x;
    const unsigned* at = x + blockIdx.x * (size_t)cols;
    int left = min(k, cols - 1), len = cols;
    unsigned found = 0, known = 0;
    if (t == 0) many = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        have[t] = 0;
        __syncthreads();
        for (int c = t; c < len; c += 256) {
            unsigned v = at[c];
            if ((v & known) == found) atomicAdd(&have[v >> shift & 255u], 1);
        }
        __syncthreads();
        if (t == 0) {
            int sum = 0, d = 0;
            for (; d < 255 && sum + have[d] <= left; ++d) sum += have[d];
            digit = d;
            before = sum;
        }
        __syncthreads();
        found |= (unsigned)digit << shift;
        known |= 255u << shift;
        left -= before;
        if (shift == 24 && have[digit] <= 2048) {
            for (int c = t; c < cols; c += 256) {
                unsigned v = at[c];
                if ((v & known) == found) {
                    int place = atomicAdd(&many, 1);
                    if (place < 2048) kept[place] = v;
                }
            }
            __syncthreads();
            at = kept;
            len = min(many, 2048);
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = found;
}
