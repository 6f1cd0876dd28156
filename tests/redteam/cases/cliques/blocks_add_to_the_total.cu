#include <cuda_runtime.h>

// The edges of a vertex as bits, a warp a word.
__global__ void pack(const unsigned char* a, unsigned* bits, int n, int words) {
    int w = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.y;
    if (w >= words) return;
    int j = w * 32 + lane;
    unsigned v = __ballot_sync(0xffffffffu, j < n && a[(size_t)i * n + j]);
    if (lane == 0) bits[(size_t)i * words + w] = v;
}

// A block a vertex: its own edges are held, and each block adds what it found.
__global__ void corners(const unsigned* bits, unsigned* each, unsigned long long* total, int n, int words) {
    __shared__ unsigned found, held[256];
    int i = blockIdx.x, t = threadIdx.x;
    if (t == 0) found = 0;
    unsigned mine = 0;
    for (int w0 = 0; w0 < words; w0 += 256) {
        int many = min(256, words - w0);
        __syncthreads();
        for (int w = t; w < many; w += 128) held[w] = bits[(size_t)i * words + w0 + w];
        __syncthreads();
        for (int j = t; j < n; j += 128)
            if (bits[(size_t)i * words + j / 32] >> j % 32 & 1)
                for (int w = 0; w < many; ++w) mine += __popc(held[w] & bits[(size_t)j * words + w0 + w]);
    }
    mine = __reduce_add_sync(0xffffffffu, mine);
    if (t % 32 == 0) atomicAdd(&found, mine);
    __syncthreads();
    if (t) return;
    each[i] = found;
    atomicAdd(total, (unsigned long long)found);
}

// For each vertex of a directed graph the pairs of edges from it whose ends an edge joins, and how many there are in
// all.
extern "C" void cliques(const unsigned char* a, unsigned* each, unsigned long long* total, int n) {
    int words = n / 32 + (n % 32 > 0);
    unsigned* bits;
    cudaMalloc(&bits, (size_t)n * words * sizeof(unsigned));
    cudaMemsetAsync(total, 0, sizeof(*total), 0);
    pack<<<dim3((words + 3) / 4, n), 128>>>(a, bits, n, words);
    corners<<<n, 128>>>(bits, each, total, n, words);
    cudaFree(bits);
}
