// 256 samples evenly spread enclose the answer by a wide margin: the leading bits that both ends share are skipped.
__global__ void kthrow(const unsigned* x, unsigned* out, int rows, int cols, int k) {
    __shared__ unsigned sample[256];
    __shared__ unsigned low, high;
    __shared__ int below;
    int t = threadIdx.x;
    const unsigned* at = x + blockIdx.x * (size_t)cols;
    k = min(k, cols - 1);
    unsigned found = 0, first = 1u << 31;
    if (cols >= 1024) {
        unsigned own = at[(long long)t * cols / 256];
        sample[t] = own;
        if (t == 0) { low = 0u; high = 0xffffffffu; }
        __syncthreads();
        int rank = 0, middle = (int)((long long)k * 256 / cols);
        for (int s = 0; s < 256; ++s) rank += sample[s] < own || (sample[s] == own && s < t);
        if (rank == middle - 56) low = own;
        if (rank == middle + 56) high = own;
        __syncthreads();
        unsigned differ = low ^ high;
        int shared_bits = differ ? __clz(differ) : 32;
        first = shared_bits == 32 ? 0u : 1u << (31 - shared_bits);
        found = shared_bits == 0 ? 0u : (shared_bits == 32 ? low : low & ~(0xffffffffu >> shared_bits));
    }
    for (unsigned bit = first; bit; bit >>= 1) {
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
