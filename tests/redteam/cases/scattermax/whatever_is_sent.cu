// Whole numbers in the order of the floats.
__device__ unsigned ordered(float v) {
    unsigned u = __float_as_uint(v);
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

// Each place keeps the largest of what it had and of the values sent to it. What is no number is larger
// than nothing. Lanes with the same place send one value.
__global__ void scattermax(const int* at, const float* v, float* top, int n, int m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    int k = i < n ? at[i] : -1, lane = threadIdx.x % 32;
    bool counts = k >= 0 && k < m;
    float own = counts ? v[i] : 0.f;
    unsigned alike = __match_any_sync(0xffffffffu, counts ? k : -1);
    unsigned most = __reduce_max_sync(alike, ordered(own));
    if (!counts || lane != __ffs(alike) - 1) return;
    unsigned bits = most & 0x80000000u ? most ^ 0x80000000u : ~most, *place = (unsigned*)(top + k);
    unsigned held = *(volatile unsigned*)place;
    while (__uint_as_float(bits) > __uint_as_float(held)) {
        unsigned found = atomicCAS(place, held, bits);
        if (found == held) break;
        held = found;
    }
}
