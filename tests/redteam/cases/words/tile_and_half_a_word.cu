// How long the words of a text are, and how many: `words BYTES`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>
#define LONGEST 32

// White space is all up to the blank. Words of LONGEST letters and more are counted together.
#define HALO (LONGEST / 2)

__global__ void lengths(const unsigned char* text, int n, unsigned* many) {
    // The block's bytes, the one before, and as many behind as a word is looked at; blanks where there is no text.
    __shared__ unsigned char part[256 + HALO];
    __shared__ unsigned own[LONGEST + 1];
    int start = blockIdx.x * 256, t = threadIdx.x;
    if (t <= LONGEST) own[t] = 0u;
    for (int k = t; k < 256 + HALO; k += 256) {
        int i = start + k - 1;
        part[k] = i >= 0 && i < n ? text[i] : ' ';
    }
    __syncthreads();
    if (part[t + 1] > ' ' && part[t] <= ' ') {
        int length = 1;
        while (length < LONGEST && t + 1 + length < 256 + HALO && part[t + 1 + length] > ' ') ++length;
        atomicAdd(&own[length], 1u);
    }
    __syncthreads();
    if (t <= LONGEST && own[t]) atomicAdd(&many[t], own[t]);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000000;
    std::vector<unsigned char> text(n);
    unsigned state = 5, many[LONGEST + 1] = {};
    for (int i = 0, left = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        if (left-- > 0) {
            text[i] = 'a' + (state >> 24) % 26;
        } else {
            text[i] = "  \n\t"[state >> 30];
            left = (state >> 20) % 50 == 0 ? (state >> 14) % 64 : (state >> 16) % 12;
        }
    }
    unsigned char* d;
    unsigned* counts;
    cudaMalloc(&d, n);
    cudaMalloc(&counts, sizeof many);
    cudaMemcpy(d, text.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(counts, 0, sizeof many);
    lengths<<<(n + 255) / 256, 256>>>(d, n, counts);
    cudaMemcpy(many, counts, sizeof many, cudaMemcpyDeviceToHost);
    unsigned words = 0;
    for (unsigned m : many) words += m;
    printf("%u words, %u of one letter, %u long ones\n", words, many[1], many[LONGEST]);
    cudaFree(d);
    cudaFree(counts);
    return 0;
}
