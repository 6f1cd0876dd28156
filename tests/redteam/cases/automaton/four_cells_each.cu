// Cells on a ring, each the child of three: `automaton CELLS STEPS RULE`.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void plant(unsigned char* cell, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) cell[i] = (i * 2654435761u >> 13 ^ i * 40503u >> 7) & 1u;
}

// Four cells in a row, whose neighbours are read once.
__global__ void step(const unsigned char* from, unsigned char* to, int n, int rule) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    int window = from[i ? i - 1 : n - 1] << 1 | from[i];
    for (int k = i; k < n && k < i + 4; ++k) {
        window = (window << 1 | from[k + 1 < n ? k + 1 : 0]) & 7;
        to[k] = rule >> window & 1;
    }
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 10;
    int rule = argc > 3 ? atoi(argv[3]) : 110;
    unsigned char *from, *to;
    cudaMalloc(&from, n);
    cudaMalloc(&to, n);
    plant<<<(n + 255) / 256, 256>>>(from, n);
    for (int s = 0; s < steps; ++s) {
        step<<<(n + 1023) / 1024, 256>>>(from, to, n, rule);
        unsigned char* t = from;
        from = to, to = t;
    }
    std::vector<unsigned char> cell(n);
    cudaMemcpy(cell.data(), from, n, cudaMemcpyDeviceToHost);
    unsigned long long mark = 14695981039346656037ull;
    int alive = 0;
    for (unsigned char c : cell) alive += c, mark = (mark ^ c) * 1099511628211ull;
    printf("alive %d mark %llx\n", alive, mark);
    cudaFree(from);
    cudaFree(to);
    return 0;
}
