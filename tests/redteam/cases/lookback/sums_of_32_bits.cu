#include <cuda_runtime.h>
#define THREADS 256

// Where each of many pieces begins when they lie one behind the other. A block holds its place in
// line by a ticket, and waits for the sum of the one before it.
__global__ void begin(unsigned long long* line, unsigned* ticket, int blocks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < blocks) line[i] = 0ull;
    if (i == 0) *ticket = 0u;
}

__global__ void scan(const int* size, long long* offset, int n, unsigned long long* line,
                     unsigned* ticket) {
    __shared__ long long part[THREADS];
    __shared__ long long before;
    __shared__ unsigned turn;
    int t = threadIdx.x;
    if (t == 0) turn = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = turn * THREADS + t;
    long long mine = i < n ? size[i] : 0;
    part[t] = mine;
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
        long long left = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += left;
        __syncthreads();
    }
    if (t == THREADS - 1) {
        // The lowest bit says that the sum is there.
        unsigned long long sum = 1ull;
        if (turn > 0) do sum = atomicAdd(&line[turn - 1], 0ull); while (!(sum & 1ull));
        before = (unsigned)(sum >> 1);
        atomicExch(&line[turn], (unsigned long long)(before + part[t]) << 1 | 1ull);
    }
    __syncthreads();
    if (i < n) offset[i] = before + part[t] - mine;
}

extern "C" void offsets(const int* size, long long* offset, int n) {
    int blocks = (n + THREADS - 1) / THREADS;
    unsigned long long* line;
    cudaMalloc(&line, (blocks + 1) * sizeof(unsigned long long));
    unsigned* ticket = (unsigned*)(line + blocks);
    begin<<<(blocks + 127) / 128, 128>>>(line, ticket, blocks);
    scan<<<blocks, THREADS>>>(size, offset, n, line, ticket);
    cudaFree(line);
}
