// The k-th smallest number of each row, from zero on; the largest where there are not so many. Digit by digit,
// by how many have each.
__global__ void kthrow(const unsigned* x, unsigned* out, int rows, int cols, int k) {
    __shared__ int have[256];
    __shared__ int digit, before;
    int t = threadIdx.x;
    const unsigned* at = x + blockIdx.x * (size_t)cols;
    int left = min(k, cols - 1);
    unsigned found = 0, known = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        have[t] = 0;
        __syncthreads();
        for (int c = t; c < cols; c += 256) {
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
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = found;
}
