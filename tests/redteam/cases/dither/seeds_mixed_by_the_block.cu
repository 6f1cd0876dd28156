__device__ unsigned long long mixed(unsigned long long z) {
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

// Noise for a part of a long stream of numbers: the one at place `first` + i of the stream gets the same
// noise whichever part it is in.
__global__ void dither(const float* x, float* y, int n, float amount, unsigned long long seed,
                       long long first) {
    // Once a block, and one word of it handed to the others by a shuffle.
    int lane = threadIdx.x % 32;
    unsigned from = 0u;
    if (lane == 0) from = (unsigned)seed;
    unsigned long long key = mixed(__shfl_sync(0xffffffffu, from, 0));
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned long long z = mixed(key ^ (unsigned long long)(first + (long long)i));
        y[i] = x[i] + amount * ((float)(z >> 40) * (1.f / 16777216.f) - 0.5f);
    }
}
