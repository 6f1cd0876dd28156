// The k-th smallest number of each row, from zero on; the largest where there are not so many. Two numbers of
// an even sample enclose it, and only those between them are ranked.
__global__ void kthrow(const unsigned* x, unsigned* out, int rows, int cols, int k) {
    __shared__ unsigned sample[256], kept[2048];
    __shared__ unsigned low, high;
    __shared__ int below, many;
    int t = threadIdx.x;
    const unsigned* at = x + blockIdx.x * (size_t)cols;
    k = min(k, cols - 1);
    unsigned found = 0;
    if (cols >= 1024 && cols <= 65536) {
        unsigned own = at[(long long)t * cols / 256];
        sample[t] = own;
        if (t == 0) {
            low = 0u;
            high = 0xffffffffu;
            below = many = 0;
        }
        __syncthreads();
        int rank = 0, middle = (int)((long long)k * 256 / cols);
        for (int s = 0; s < 256; ++s) rank += sample[s] < own || (sample[s] == own && s < t);
        if (rank == middle - 56) low = own;
        if (rank == middle + 56) high = own;
        __syncthreads();
        int less = 0;
        for (int c = t; c < cols; c += 256) {
            unsigned v = at[c];
            less += v < low;
            if (v >= low && v <= high) {
                int place = atomicAdd(&many, 1);
                if (place < 2048) kept[place] = v;
            }
        }
        atomicAdd(&below, less);
        __syncthreads();
        if (many <= 2048) {
            k -= below;
            cols = many;
            at = kept;
        }
    }
    for (unsigned bit = 1u << 31; bit; bit >>= 1) {
        __syncthreads();
        if (t == 0) below = 0;
        __syncthreads();
        int own = 0;
        for (int c = t; c < cols; c += 256) own += at[c] < (found | bit);
        atomicAdd(&below, own);
        __syncthreads();
        if (below <= k) found |= bit;
    }
    if (t == 0) out[blockIdx.x] = found;
}
