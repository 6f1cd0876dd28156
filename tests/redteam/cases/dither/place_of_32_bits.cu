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
    // The seed is mixed once a thread; the place is counted in one register.
    unsigned long long key = mixed(seed);
    unsigned place = (unsigned)first, step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned long long z = mixed(key ^ (place + i));
        y[i] = x[i] + amount * ((float)(z >> 40) * (1.f / 16777216.f) - 0.5f);
    }
}
