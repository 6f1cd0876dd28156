__device__ uint4 four_chosen(unsigned counter, unsigned seed) {
    unsigned c0 = counter, c1 = 0u, c2 = 0u, c3 = 0u, k0 = seed, k1 = seed ^ 0x5bd1e995u;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        unsigned long long p = 0xd2511f53ull * c0, q = 0xcd9e8d57ull * c2;
        c0 = (unsigned)(q >> 32) ^ c1 ^ k0;
        c1 = (unsigned)q;
        c2 = (unsigned)(p >> 32) ^ c3 ^ k1;
        c3 = (unsigned)p;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

__global__ void dropout(const float* x, float* y, unsigned* kept, int n, unsigned seed) {
    int group = blockIdx.x * blockDim.x + threadIdx.x, i = 4 * group, lane = threadIdx.x % 32;
    if (i >= n) return;
    uint4 r = four_chosen(group, seed);
    unsigned bits = 0;
    unsigned words[4] = {r.x, r.y, r.z, r.w};
    for (int j = 0; j < 4; ++j)
        if (i + j < n) {
            bool keep = words[j] >= 1288490189u;
            bits |= (unsigned)keep << j;
            y[i + j] = keep ? x[i + j] / 0.7f : 0.f;
        }
    bits <<= 4 * (lane % 8);
    for (int d = 1; d < 8; d *= 2) bits |= __shfl_xor_sync(0xffffffffu, bits, d);
    if (lane % 8 == 7) kept[i / 32] = bits;
}
