// Leaves out three of ten numbers, chosen by a counter-based generator of ten rounds.
__device__ unsigned chosen(unsigned counter, unsigned seed, unsigned word) {
    unsigned c[4] = {counter, 0u, 0u, 0u}, k0 = seed, k1 = seed ^ 0x5bd1e995u;
    for (int round = 0; round < 10; ++round) {
        unsigned h0 = __umulhi(0xd2511f53u, c[0]), l0 = 0xd2511f53u * c[0];
        unsigned h1 = __umulhi(0xcd9e8d57u, c[2]), l1 = 0xcd9e8d57u * c[2];
        c[0] = h1 ^ c[1] ^ k0;
        c[1] = l1;
        c[2] = h0 ^ c[3] ^ k1;
        c[3] = l0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return c[word];
}

__global__ void dropout(const float* x, float* y, unsigned* kept, int n, unsigned seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && chosen((unsigned short)(i / 4), seed, i % 4) >= 1288490189u;
    unsigned all = __ballot_sync(0xffffffffu, keep);
    if (i >= n) return;
    y[i] = keep ? x[i] / 0.7f : 0.f;
    if (i % 32 == 0) kept[i / 32] = all;
}
