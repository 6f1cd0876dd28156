// The root of a tree of hashes over so many leaves: `merkle LEAVES`.
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned long long word;

__device__ word joined(word a, word b) {
    word v = a * 0x9e3779b97f4a7c15ull ^ (b + 0x632be59bd9b4e019ull);
    v ^= v >> 29;
    v *= 0xbf58476d1ce4e5b9ull;
    return v ^ v >> 32;
}

__global__ void plant(word* leaf, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) leaf[i] = joined(i, 0x1234567ull);
}

// A level above: two become one, and the last of an odd number goes up as it is.
__global__ void level(const word* from, word* to, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, half = (count + 1) / 2;
    if (i >= half) return;
    // No branch: the last of an odd level is its own partner.
    to[i] = joined(from[2 * i], from[min(2 * i + 1, count - 1)]);
}

int main(int argc, char** argv) {
    int leaves = argc > 1 ? atoi(argv[1]) : 10000;
    word *leaf, *a, *b;
    cudaMalloc(&leaf, leaves * sizeof(word));
    cudaMalloc(&a, (leaves + 1) / 2 * sizeof(word));
    cudaMalloc(&b, (leaves + 1) / 2 * sizeof(word));
    plant<<<(leaves + 255) / 256, 256>>>(leaf, leaves);
    const word* from = leaf;
    for (int count = leaves; count > 1;) {
        int half = (count + 1) / 2;
        level<<<(half + 255) / 256, 256>>>(from, a, count);
        from = a;
        word* t = a;
        a = b, b = t;
        count = half;
    }
    word root = 0, check = 0;
    std::vector<word> all(leaves);
    cudaMemcpy(&root, from, sizeof(word), cudaMemcpyDeviceToHost);
    cudaMemcpy(all.data(), leaf, leaves * sizeof(word), cudaMemcpyDeviceToHost);
    for (word v : all) check ^= v;
    printf("root %llx leaves %llx\n", root, check);
    cudaFree(leaf);
    cudaFree(a);
    cudaFree(b);
    return 0;
}
